// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overlay/draw/colortext.hpp"
#include "overlay/draw/composer.hpp"
#include "overlay_harness.hpp"

namespace {

using namespace crowd::test;

std::string color_of(GstElement* element, const char* property) {
  gchar* text = nullptr;
  g_object_get(element, property, &text, nullptr);
  const std::string color = text;
  g_free(text);
  return color;
}

TEST(crowdoverlay, takes_colors_as_people_type_them) {
  const std::string rest = "thickness=1 draw-labels=false draw-scores=false ";
  for (const auto& [text, rgb] : {std::pair{"red", 0xff0000U},
                                  {"0x00ff00", 0x00ff00U},
                                  {"#00ff00", 0x00ff00U},
                                  {"#f00", 0xff0000U},
                                  {"0x00123456", 0x123456U}}) {
    const Overlay overlay(rest + "color=" + text);
    auto buffer = noise();
    add_region(buffer.get(), 10, 7, 31, 22);
    EXPECT_EQ(bytes_of(overlay.pass(std::move(buffer)).get()), noise_with({outline(10, 7, 41, 29, rgb)})) << text;
    EXPECT_EQ(color_of(overlay.element().get(), "color"), text);
  }
  const Overlay defaults("");
  EXPECT_EQ(color_of(defaults.element().get(), "color"), "class");
  EXPECT_EQ(color_of(defaults.element().get(), "candidate-color"), "0xffb300");
  const crowd::draw::Style style;
  EXPECT_EQ(style.color, crowd::draw::parse_color("class"));
  EXPECT_EQ(style.candidate_color, crowd::draw::parse_color("0xffb300"));
}

TEST(crowdoverlay, says_once_that_a_color_cannot_be_read) {
  const Ref<GstElement> element(gst_parse_launch("crowdoverlay color=#f00 candidate-color=blu", nullptr));
  gst_object_ref_sink(element.get());
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_WARNING), nullptr) << "the bus is closed so far";
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  const auto said = [&bus] {
    const auto message = pop_message(bus.get(), GST_MESSAGE_WARNING);
    return message ? message_text(message.get()) : "nothing";
  };
  EXPECT_THAT(said(), testing::AllOf(testing::HasSubstr("candidate-color stays 0xffb300: \"blu\" cannot be read"),
                                     testing::HasSubstr("#RRGGBB")));
  EXPECT_EQ(said(), "nothing");
  g_object_set(element.get(), "color", "#12345", nullptr);
  EXPECT_THAT(said(), testing::HasSubstr("color stays #f00: \"#12345\" cannot be read"));
  EXPECT_EQ(said(), "nothing");
  EXPECT_EQ(color_of(element.get(), "color"), "#f00");
  g_object_set(element.get(), "color", nullptr, nullptr);
  EXPECT_THAT(said(), testing::HasSubstr("color stays #f00: \"\" cannot be read"));
  g_object_set(element.get(), "color", "Navy", nullptr);
  EXPECT_EQ(said(), "nothing");
  EXPECT_EQ(color_of(element.get(), "color"), "Navy");
  gst_element_set_state(element.get(), GST_STATE_NULL);
  g_object_set(element.get(), "color", "#1", nullptr);
  g_object_set(element.get(), "color", "#123", nullptr);
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  EXPECT_EQ(said(), "nothing") << "mended before anything was drawn";
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

TEST(crowdoverlay, names_the_remedy_for_formats_that_it_does_not_take) {
  expect_remedy("crowdoverlay", "video/x-raw,format=GBR,width=64,height=48,framerate=25/1",
                "put videoconvert before crowdoverlay");
  expect_remedy("crowdoverlay", "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48,framerate=25/1",
                "gldownload");
  expect_remedy("crowdoverlay", "video/x-raw(memory:CUDAMemory),format=Y444,width=64,height=48,framerate=25/1",
                "cudadownload");
  expect_remedy("crowdoverlay", "video/x-raw,format=I420,width=64,height=48,framerate=25/1", "");
  expect_remedy("crowdoverlay", "audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved", "");
}

}  // namespace
