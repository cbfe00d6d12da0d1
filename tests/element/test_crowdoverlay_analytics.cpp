// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdoverlay on frames whose objects are GstAnalyticsODMtd alone, as GStreamer's tensor decoders leave them.

#include "analytics_support.hpp"
#include "overlay_harness.hpp"

namespace {

using namespace crowd::test;

/// Red outlines of a pixel, blue ones for candidates, no text.
const std::string plain =
    "color=0xffff0000 candidate-color=0xff0000ff thickness=1 draw-labels=false draw-scores=false draw-counts=false ";

Ref<GstBuffer> frame_of_three() {
  auto buffer = noise();
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  add_od(meta, "person", 2, 2, 20, 20, .5f);
  add_od(meta, "person", 5, 4, 22, 18, .75f);
  add_od(meta, "person", 40, 10, 30, 38, .25f);
  return buffer;
}

TEST(crowdoverlay_analytics, draws_objects) {
  const Overlay overlay(plain);
  const auto out = overlay.pass(frame_of_three());
  EXPECT_EQ(bytes_of(out.get()),
            noise_with({outline(2, 2, 22, 22, red), outline(5, 4, 27, 22, red), outline(40, 10, 70, 48, red)}));
  EXPECT_EQ(overlay.stat("survivors"), 3u);
}

TEST(crowdoverlay_analytics, draws_parts_as_candidates) {
  const auto drawn = [](const std::string& show) {
    auto buffer = frame_of_three();
    relate(relations(buffer.get()), 0, 1, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
    return bytes_of(Overlay(plain + "show=" + show).pass(std::move(buffer)).get());
  };
  const auto part = outline(2, 2, 22, 22, blue);
  const auto whole = outline(5, 4, 27, 22, red), other = outline(40, 10, 70, 48, red);
  EXPECT_EQ(drawn("survivors"), noise_with({whole, other}));
  EXPECT_EQ(drawn("both"), noise_with({part, whole, other}));
}

TEST(crowdoverlay_analytics, draws_a_part_of_those_that_are_parts_of_each_other_as_a_candidate) {
  auto buffer = frame_of_three();
  relate(relations(buffer.get()), 0, 1, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  relate(relations(buffer.get()), 1, 2, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  relate(relations(buffer.get()), 2, 1, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  const auto out = Overlay(plain + "show=survivors").pass(std::move(buffer));
  EXPECT_EQ(bytes_of(out.get()), noise_with({outline(5, 4, 27, 22, red), outline(40, 10, 70, 48, red)}));
}

TEST(crowdoverlay_analytics, draws_both_where_each_is_part_of_the_other) {
  auto buffer = frame_of_three();
  relate(relations(buffer.get()), 0, 1, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  relate(relations(buffer.get()), 1, 0, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  const auto out = Overlay(plain).pass(std::move(buffer));
  EXPECT_EQ(bytes_of(out.get()),
            noise_with({outline(2, 2, 22, 22, red), outline(5, 4, 27, 22, red), outline(40, 10, 70, 48, red)}));
}

}  // namespace
