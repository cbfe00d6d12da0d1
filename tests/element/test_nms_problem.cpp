// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms passes the library's messages on with its own properties in place of C fields.

#include "cluster/problem.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "support.hpp"

namespace {

using crowd::with_property_names;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct WrongField {
  const char* property;
  std::function<void(CrowdNmsParams&)> spoil;
};

void PrintTo(const WrongField& field, std::ostream* out) {
  *out << field.property;
}

class library_message : public testing::TestWithParam<WrongField> {};

TEST_P(library_message, names_the_property) {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  params.method = CROWD_NMS_PAPER;
  GetParam().spoil(params);
  const CrowdNmsStatus status = crowd_nms_params_check(&params);
  ASSERT_EQ(status, CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd::library_problem(status), AllOf(HasSubstr(GetParam().property), Not(HasSubstr("_"))));
}

INSTANTIATE_TEST_SUITE_P(
    every_field, library_message,
    testing::Values(WrongField{"method", [](auto& p) { p.method = static_cast<CrowdNmsMethod>(99); }},
                    WrongField{"metric", [](auto& p) { p.metric = static_cast<CrowdNmsMetric>(99); }},
                    WrongField{"comparator", [](auto& p) { p.comparator = static_cast<CrowdNmsComparator>(99); }},
                    WrongField{"iou-threshold", [](auto& p) { p.overlap_threshold = 2; }},
                    WrongField{"score-threshold", [](auto& p) { p.score_threshold = NAN; }},
                    WrongField{"pixel-offset", [](auto& p) { p.pixel_offset = 2; }},
                    WrongField{"class-agnostic", [](auto& p) { p.class_agnostic = 2; }},
                    WrongField{"min-overlap", [](auto& p) { p.rule = CROWD_NMS_FEATURE, p.min_overlap = 1; }},
                    WrongField{"max-distance", [](auto& p) { p.max_distance = -1; }},
                    WrongField{"paper-d-max", [](auto& p) { p.paper_d_max = 1u << 20; }},
                    WrongField{"paper-k", [](auto& p) { p.paper_k = 0; }}));

TEST(with_property_names, changes_whole_words_only) {
  EXPECT_EQ(with_property_names("set paper_k, or paper_d_max/paper_k"), "set paper-k, or paper-d-max/paper-k");
  EXPECT_EQ(with_property_names("lower the capacity: a capacity of 4"), "lower max-candidates: max-candidates of 4");
  EXPECT_EQ(with_property_names("capacity 9 makes D_max 9: set paper_d_max"),
            "max-candidates 9 makes D_max 9: set paper-d-max");
  EXPECT_EQ(with_property_names("max_survivors"), "max-detections");
  for (const char* text : {"", "my_paper_k", "paper_kind", "capacity_", "gst_crowd_boxes_memory_new()", "D_max"})
    EXPECT_EQ(with_property_names(text), text);
}

}  // namespace
