// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of methods, metrics, rules and ways of merging as an application sees them.

#include "core/derived_metrics.hpp"
#include "core/merges.hpp"
#include "core/methods.hpp"
#include "core/rules.hpp"

namespace crowd {

namespace {

template <typename Info, typename... Row>
const Info* info(Table<Row...>, std::uint32_t value) {
  static constexpr Info infos[] = {{Row::name, Row::description}...};
  return value < sizeof...(Row) ? &infos[value] : nullptr;
}

}  // namespace

}  // namespace crowd

const CrowdNmsMethodInfo* crowd_nms_method_info(uint32_t method) {
  return method < crowd::Methods::size ? &crowd::method_infos[method] : nullptr;
}

const CrowdNmsMetricInfo* crowd_nms_metric_info(uint32_t metric) {
  return crowd::info<CrowdNmsMetricInfo>(crowd::Metrics{}, metric);
}

const CrowdNmsMergeInfo* crowd_nms_merge_info(uint32_t merge) {
  return crowd::info<CrowdNmsMergeInfo>(crowd::Merges{}, merge);
}

const CrowdNmsRuleInfo* crowd_nms_rule_info(uint32_t rule) {
  return crowd::info<CrowdNmsRuleInfo>(crowd::Rules{}, rule);
}
