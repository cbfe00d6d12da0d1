// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What every element says in one way.

#include "base/transform.hpp"

#include <gmock/gmock.h>

#include "support.hpp"

namespace {

using namespace crowd::test;
using crowd::DeviceOutcome;
using testing::AllOf;
using testing::HasSubstr;

/// The text of the one error that is posted.
std::string said(DeviceOutcome outcome, int code) {
  const Ref<GstBus> bus(gst_bus_new());
  const Ref<GstElement> element(gst_element_factory_make("identity", nullptr));
  gst_object_ref_sink(element.get());
  gst_element_set_bus(element.get(), bus.get());
  EXPECT_EQ(crowd::fail_for_gpu(GST_BASE_TRANSFORM(element.get()), outcome, "the problem"), GST_FLOW_ERROR);
  gst_element_set_bus(element.get(), nullptr);
  const Ref<GstMessage> message = pop_message(bus.get(), GST_MESSAGE_ERROR);
  if (!message)
    return "nothing";
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  EXPECT_TRUE(g_error_matches(error, GST_RESOURCE_ERROR, code)) << error->code;
  g_error_free(error);
  EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_ERROR), nullptr);
  return message_text(message.get());
}

TEST(fail_for_gpu, says_that_its_memory_is_full_and_what_helps) {
  EXPECT_THAT(said(DeviceOutcome::out_of_memory, GST_RESOURCE_ERROR_NO_SPACE_LEFT),
              AllOf(HasSubstr("no memory left (the problem)"), HasSubstr("max-candidates")));
}

TEST(fail_for_gpu, says_that_it_failed_and_what_helps) {
  EXPECT_THAT(said(DeviceOutcome::failed, GST_RESOURCE_ERROR_FAILED),
              AllOf(HasSubstr("GPU failed (the problem)"), HasSubstr("Restart the pipeline")));
}

}  // namespace
