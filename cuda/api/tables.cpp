// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of methods, metrics and rules as an application sees them.

#include "core/derived_metrics.hpp"
#include "core/methods.hpp"
#include "core/rules.hpp"

namespace crowd {

namespace {

template <typename... Row>
const CrowdNmsMetricInfo* metric_info(Table<Row...>, std::uint32_t metric) {
  static constexpr CrowdNmsMetricInfo infos[] = {{Row::name, Row::description}...};
  return metric < sizeof...(Row) ? &infos[metric] : nullptr;
}

template <typename... Row>
const CrowdNmsRuleInfo* rule_info(Table<Row...>, std::uint32_t rule) {
  static constexpr CrowdNmsRuleInfo infos[] = {{Row::name, Row::description}...};
  return rule < sizeof...(Row) ? &infos[rule] : nullptr;
}

}  // namespace

}  // namespace crowd

const CrowdNmsMethodInfo* crowd_nms_method_info(uint32_t method) {
  return method < crowd::Methods::size ? &crowd::method_infos[method] : nullptr;
}

const CrowdNmsMetricInfo* crowd_nms_metric_info(uint32_t metric) {
  return crowd::metric_info(crowd::Metrics{}, metric);
}

const CrowdNmsRuleInfo* crowd_nms_rule_info(uint32_t rule) {
  return crowd::rule_info(crowd::Rules{}, rule);
}
