// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with candidates in a GstCrowdBoxesMeta: what goes in, what comes out.

#include <crowd/nms.h>
#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include <random>

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(crowdnms, leaves_one_region_per_object) {
  NmsHarness nms;
  const std::vector<Candidate> two_piles = {{10, 20, 50, 100, .5f},
                                            {11, 21, 52, 101, .9f},
                                            {300, 200, 340, 290, .7f},
                                            {12, 19, 50, 103, .4f},
                                            {301, 202, 341, 288, .6f}};
  const auto out = nms.pass(two_piles);
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@11,21,41,80", "object@300,200,40,90"));
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
}

}  // namespace
