// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of methods and metrics as an application sees them.

#include "core/methods.hpp"
#include "core/metrics.hpp"

namespace crowd {

namespace {

template <typename... Row>
const CrowdNmsMetricInfo* metric_info(Table<Row...>, std::uint32_t metric) {
  static constexpr CrowdNmsMetricInfo infos[] = {{Row::name, Row::description}...};
  return metric < sizeof...(Row) ? &infos[metric] : nullptr;
}

}  // namespace

}  // namespace crowd

const CrowdNmsMethodInfo* crowd_nms_method_info(uint32_t method) {
  return method < crowd::Methods::size ? &crowd::method_infos[method] : nullptr;
}

const CrowdNmsMetricInfo* crowd_nms_metric_info(uint32_t metric) {
  return crowd::metric_info(crowd::Metrics{}, metric);
}
