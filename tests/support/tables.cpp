// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tables.hpp"

#include <algorithm>

namespace crowd::test {

namespace {

template <typename Value, typename Info>
std::vector<Value> rows(const Info* (*info)(std::uint32_t)) {
  std::vector<Value> values;
  for (std::uint32_t value = 0; info(value); ++value)
    values.push_back(static_cast<Value>(value));
  return values;
}

}  // namespace

std::uint32_t metric_count() {
  return static_cast<std::uint32_t>(all_metrics().size());
}

std::vector<CrowdNmsMetric> all_metrics() {
  return rows<CrowdNmsMetric>(crowd_nms_metric_info);
}

std::vector<CrowdNmsRule> all_rules() {
  return rows<CrowdNmsRule>(crowd_nms_rule_info);
}

std::vector<CrowdNmsMerge> all_merges() {
  return rows<CrowdNmsMerge>(crowd_nms_merge_info);
}

std::vector<CrowdNmsMethod> all_methods() {
  return rows<CrowdNmsMethod>(crowd_nms_method_info);
}

std::vector<CrowdNmsMethod> methods_of(CrowdNmsBackend backend) {
  std::vector<CrowdNmsMethod> methods = all_methods();
  std::erase_if(methods,
                [=](CrowdNmsMethod method) { return !(crowd_nms_method_info(method)->backends & 1u << backend); });
  return methods;
}

std::vector<CrowdNmsMethod> quick_methods_of(CrowdNmsBackend backend) {
  std::vector<CrowdNmsMethod> methods = methods_of(backend);
  std::erase_if(methods, [](CrowdNmsMethod method) { return reads(method, CROWD_NMS_READS_D_MAX); });
  return methods;
}

bool reads(CrowdNmsMethod method, CrowdNmsReads what) {
  return crowd_nms_method_info(method)->reads & what;
}

std::string test_name(CrowdNmsMethod method) {
  std::string name = crowd_nms_method_info(method)->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace crowd::test
