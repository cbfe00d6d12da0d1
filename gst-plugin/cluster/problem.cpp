// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/problem.hpp"

#include <cctype>

namespace crowd {

namespace {

struct Name {
  std::string_view field;
  std::string_view property;
};

constexpr Name names[] = {
    {"overlap_threshold", "iou-threshold"}, {"score_threshold", "score-threshold"}, {"pixel_offset", "pixel-offset"},
    {"class_agnostic", "class-agnostic"},   {"paper_d_max", "paper-d-max"},         {"paper_k", "paper-k"},
    {"cluster_score", "cluster-score"},     {"min_members", "min-members"},         {"max_survivors", "max-detections"},
    {"min_overlap", "min-overlap"},         {"max_distance", "max-distance"},       {"the capacity", "max-candidates"},
    {"a capacity", "max-candidates"},       {"capacity", "max-candidates"},
};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The name that the text continues with as a whole word, or null.
const Name* name_at(std::string_view text) {
  for (const Name& name : names) {
    const std::size_t n = name.field.size();
    if (text.starts_with(name.field) && (text.size() == n || !in_word(text[n])))
      return &name;
  }
  return nullptr;
}

}  // namespace

std::string with_property_names(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const bool begins_word = result.empty() || !in_word(result.back());
    const Name* name = begins_word ? name_at(text) : nullptr;
    result += name ? name->property : text.substr(0, 1);
    text.remove_prefix(name ? name->field.size() : 1);
  }
  return result;
}

std::string library_problem(CrowdNmsStatus status, std::string_view reason) {
  return with_property_names(reason.empty() ? crowd_nms_status_text(status) : reason);
}

}  // namespace crowd
