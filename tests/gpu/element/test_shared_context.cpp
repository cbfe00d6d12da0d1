// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CUDA context neighbours get from our elements when they ask for one.

#include <cuda.h>
#include <dlfcn.h>
#include <gst/cuda/gstcudacontext.h>

#include "device_support.hpp"

namespace {

using namespace crowd::test;

constexpr const char* cuda_type = "gst.cuda.context";

CUcontext handle_of(GstContext* context) {
  GstCudaContext* cuda = nullptr;
  gst_structure_get(gst_context_get_structure(context), cuda_type, GST_TYPE_CUDA_CONTEXT, &cuda, nullptr);
  auto* handle = cuda ? static_cast<CUcontext>(gst_cuda_context_get_handle(cuda)) : nullptr;
  gst_clear_object(&cuda);
  return handle;
}

CUcontext primary() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto retain = reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  CUcontext context = nullptr;
  EXPECT_EQ(retain(&context, 0), CUDA_SUCCESS);
  return context;
}

class SharedContext : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    element_ = gst_element_factory_make(GetParam(), nullptr);
    if (!element_)
      GTEST_SKIP() << "this build has no " << GetParam();
    gst_bin_add(GST_BIN(pipeline_.get()), element_);
  }
  ~SharedContext() override {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  }

  /// What a neighbour gets at this pad; null if nothing.
  CUcontext ask(const char* pad_name, const char* type = cuda_type) {
    GstPad* pad = gst_element_get_static_pad(element_, pad_name);
    GstQuery* query = gst_query_new_context(type);
    GstContext* context = nullptr;
    if (gst_pad_query(pad, query))
      gst_query_parse_context(query, &context);
    const auto handle = context ? handle_of(context) : nullptr;
    gst_query_unref(query);
    gst_object_unref(pad);
    return handle;
  }

  Ref<GstElement> pipeline_{gst_pipeline_new(nullptr)};
  GstElement* element_ = nullptr;
};

TEST_P(SharedContext, is_the_primary_one) {
  for (const char* pad : {"sink", "src"})
    EXPECT_EQ(ask(pad), primary()) << pad;
  EXPECT_EQ(ask("sink", "some.other.context"), nullptr);
  gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED);
  EXPECT_EQ(ask("sink"), primary()) << "playing";
}

TEST_P(SharedContext, is_one_for_all_of_a_process) {
  const CUcontext first = ask("sink");
  Ref<GstElement> other(gst_element_factory_make("crowdnms", nullptr));
  gst_object_ref_sink(other.get());
  GstQuery* query = gst_query_new_context(cuda_type);
  GstPad* pad = gst_element_get_static_pad(other.get(), "src");
  ASSERT_TRUE(gst_pad_query(pad, query));
  GstContext* context = nullptr;
  gst_query_parse_context(query, &context);
  EXPECT_EQ(handle_of(context), first);
  gst_query_unref(query);
  gst_object_unref(pad);
}

GstBusSyncReply give_context(GstBus*, GstMessage* message, gpointer gpu) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT) {
    GstContext* context = static_cast<Gpu*>(gpu)->new_gst_context();
    gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context);
    gst_context_unref(context);
  }
  return GST_BUS_PASS;
}

TEST_P(SharedContext, is_that_of_an_application_which_has_one) {
  Gpu gpu;
  GstContext* context = gpu.new_gst_context();
  const CUcontext own = handle_of(context);
  gst_context_unref(context);
  GstBus* bus = gst_element_get_bus(pipeline_.get());
  gst_bus_set_sync_handler(bus, give_context, &gpu, nullptr);
  EXPECT_EQ(ask("sink"), own);
  EXPECT_NE(own, primary());
  gst_bus_set_sync_handler(bus, nullptr, nullptr, nullptr);
  gst_object_unref(bus);
}

INSTANTIATE_TEST_SUITE_P(Element, SharedContext, testing::Values("crowdnms", "crowddetect"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
