// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the tracer makes of the driver's functions, of stacks and of frames. Needs neither CUPTI nor a GPU.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "callers.hpp"
#include "calls.hpp"
#include "ledger.hpp"
#include "read_json.hpp"
#include "stack.hpp"

namespace {

using namespace crowd::trace;

struct Case {
  const char* function;
  Kind kind;
  Direction direction = Direction::unknown;
  std::size_t word = 0;
  bool waits = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.function;
}

class function : public testing::TestWithParam<Case> {};

TEST_P(function, is_what_it_is) {
  const Call call = classify(GetParam().function);
  EXPECT_EQ(call.kind, GetParam().kind);
  EXPECT_EQ(call.direction, GetParam().direction);
  EXPECT_EQ(call.word, GetParam().word);
  EXPECT_EQ(call.waits, GetParam().waits);
}

using enum Kind;
using enum Direction;

INSTANTIATE_TEST_SUITE_P(
    all, function,
    testing::Values(
        Case{"cuLaunchKernel", launch}, Case{"cuLaunchKernel_ptsz", launch}, Case{"cuLaunchKernelEx", launch},
        Case{"cuLaunchCooperativeKernel_ptsz", launch}, Case{"cuGraphLaunch", graph_launch},
        Case{"cuLaunchHostFunc", none}, Case{"cuMemcpyHtoD_v2", copy, host_to_device, 2, true},
        Case{"cuMemcpyHtoDAsync_v2_ptsz", copy, host_to_device, 2},
        Case{"cuMemcpyDtoH_v2_ptds", copy, device_to_host, 2, true},
        Case{"cuMemcpyDtoDAsync_v2", copy, device_to_device, 2}, Case{"cuMemcpyAtoHAsync_v2", copy, device_to_host, 3},
        Case{"cuMemcpyHtoA_v2", copy, host_to_device, 3, true},
        Case{"cuMemcpyAtoA_v2", copy, device_to_device, 4, true}, Case{"cuMemcpyPeerAsync", copy, peer, 4},
        Case{"cuMemcpyAsync", copy}, Case{"cuMemcpy_ptds", copy, unknown, 0, true}, Case{"cuMemcpy2DAsync_v2", copy},
        Case{"cuMemcpy2DUnaligned_v2", copy, unknown, 0, true}, Case{"cuMemcpy3DPeerAsync", copy},
        Case{"cuMemcpyBatchAsync_v2", copy}, Case{"cuMemsetD2D8Async_ptsz", Kind::memset},
        Case{"cuMemsetD32_v2", Kind::memset}, Case{"cuStreamSynchronize_ptsz", synchronise},
        Case{"cuCtxSynchronize_v2", synchronise}, Case{"cuEventSynchronize", synchronise}, Case{"cuEventQuery", query},
        Case{"cuStreamQuery", query}, Case{"cuMemAlloc_v2", allocate, unknown, 1},
        Case{"cuMemAllocPitch_v2", allocate, unknown, 1}, Case{"cuMemAllocHost_v2", allocate, unknown, 1},
        Case{"cuMemAllocAsync_ptsz", allocate, unknown, 1}, Case{"cuMemFree_v2", release},
        Case{"cuMemFreeAsync", release}, Case{"cuMemFreeHost", release}, Case{"cuStreamCreate", create_stream},
        Case{"cuEventCreate", create_event}, Case{"cuGraphInstantiate_v2", create_graph},
        Case{"cuGraphInstantiateWithFlags", create_graph}, Case{"cuGraphInstantiateWithParams_ptsz", create_graph},
        Case{"cuGraphCreate", none}, Case{"cuMemGetInfo_v2", none}, Case{"cuStreamWaitEvent", none},
        Case{"cuMemcpyXtoD", none}, Case{"", none}),
    [](const auto& info) { return *info.param.function ? std::string(info.param.function) : std::string("nothing"); });

TEST(events, are_recorded_and_read_without_a_wait) {
  for (const char* function : {"cuEventRecord_ptsz", "cuEventElapsedTime_v2"})
    EXPECT_EQ(classify(function), Call{}) << function;
}

TEST(forms, say_where_the_bytes_are) {
  EXPECT_EQ(classify("cuMemcpyDtoH_v2").form, Form::word);
  EXPECT_EQ(classify("cuMemcpyAsync").form, Form::flat);
  EXPECT_EQ(classify("cuMemcpy2DUnaligned_v2").form, Form::rectangle);
  EXPECT_EQ(classify("cuMemcpy3DAsync_v2").form, Form::cuboid);
  EXPECT_EQ(classify("cuMemcpy3DPeer").form, Form::peer_cuboid);
  EXPECT_EQ(classify("cuMemcpyBatchAsync").form, Form::batch);
  EXPECT_EQ(classify("cuMemAllocPitch_v2").form, Form::pitched);
}

TEST(directions, follow_from_types_of_memory) {
  for (const unsigned device : {memory_device, memory_array}) {
    EXPECT_EQ(direction_between(memory_host, device), host_to_device);
    EXPECT_EQ(direction_between(device, memory_host), device_to_host);
    EXPECT_EQ(direction_between(device, memory_device), device_to_device);
  }
  EXPECT_EQ(direction_between(memory_host, memory_host), host_to_host);
  EXPECT_EQ(direction_between(0, memory_device), unknown);
  EXPECT_EQ(direction_between(memory_device, 4), unknown);
}

TEST(callers, are_named_by_files) {
  for (const auto& [path, name] : std::vector<std::pair<const char*, const char*>>{
           {"/build/gst-plugin/libgstcrowd.so", "ours"},
           {"libgstcrowdopencv.so", "ours"},
           {"/x/libcrowdnms.so.0.1.0", "ours"},
           {"/lib/gstreamer-1.0/libgstnvcodec.so", "nvcodec"},
           {"libgstcoreelements.so", "coreelements"},
           {"libnvcuvid.so.1", "nvcuvid"},
           {"libgstcuda-1.0.so.0", ""},
           {"libgstreamer-1.0.so.0.2200.0", ""},
           {"libcuda.so.1", ""},
           {"libcupti.so.13", ""},
           {"libcrowdtrace.so", ""},
           {"gst-launch-1.0", ""},
           {"", ""},
       })
    EXPECT_EQ(caller_named(path), name) << path;
}

/// The caller on a stack of these files, from the inside out; "" if there is none.
std::string caller(const std::vector<const char*>& files) {
  std::vector<Place> places;
  for (const char* file : files)
    places.push_back({caller_named(file), file});
  std::vector<const Place*> stack;
  for (const Place& place : places)
    stack.push_back(&place);
  const Place* found = caller_of(stack);
  return found ? found->caller + " in " + found->where : "";
}

TEST(callers, are_the_innermost_on_the_stack) {
  EXPECT_EQ(caller({"libcupti.so.13", "libcuda.so.1", "libcrowdnms.so.0", "libgstcrowd.so", "libgstbase-1.0.so.0",
                    "libgstreamer-1.0.so.0", "libgstnvcodec.so", "libc.so.6"}),
            "ours in libcrowdnms.so.0");
  EXPECT_EQ(caller({"libcuda.so.1", "libgstcuda-1.0.so.0", "libgstnvcodec.so", "libgstcrowd.so"}),
            "nvcodec in libgstnvcodec.so");
  EXPECT_EQ(caller({"libcuda.so.1", "libnvcuvid.so.1", "libgstnvcodec.so"}), "nvcodec in libgstnvcodec.so");
  EXPECT_EQ(caller({"libcuda.so.1", "libnvcuvid.so.1", "libc.so.6"}), "nvcuvid in libnvcuvid.so.1");
  EXPECT_EQ(caller({"libcuda.so.1", "libgstcuda-1.0.so.0", "libc.so.6"}), "");
  EXPECT_EQ(caller({}), "");
}

TEST(stack, knows_the_same_place_again_and_not_this_one) {
  Stack stack;
  const Place* first = nullptr;
  for (int i = 0; i < 3; i++) {
    const Place& found = stack.caller();
    EXPECT_EQ(found.caller, "");
    EXPECT_TRUE(!first || first == &found);
    first = &found;
  }
}

class ledger : public testing::Test {
 protected:
  void add(const char* function, const Place& place, std::uint64_t bytes = 0, const char* kernel = "") {
    ledger_.add({function, classify(function), bytes, kernel}, place);
  }

  void frame() {
    add("cuLaunchKernel", ours_, 0, "_ZN5crowd13paint_outlineEPh");
  }

  gint64 number(const std::string& path) const {
    return number_in(ledger_.as_json(), path);
  }

  const Place ours_{"ours", "libgstcrowd.so+0x10"};
  const Place also_ours_{"ours", "libgstcrowd.so+0x20"};
  const Place decoder_{"nvcodec", "libgstnvcodec.so+0x30"};
  const Place unknown_{};
  Ledger ledger_{"paint", 2};
};

TEST_F(ledger, has_windows_that_end_with_a_frame) {
  add("cuMemAlloc_v2", ours_, 1000);
  frame();
  frame();
  add("cuMemcpyHtoDAsync_v2", decoder_, 30);
  frame();
  add("cuMemcpyHtoDAsync_v2", decoder_, 20);
  add("cuLaunchKernel", ours_, 0, "hog");
  frame();
  add("cuMemFree_v2", ours_);

  EXPECT_EQ(number("start.frames"), 2);
  EXPECT_EQ(number("start.callers.ours.allocations.bytes"), 1000);
  EXPECT_EQ(number("start.total.copies.host_to_device.calls"), 0);
  EXPECT_EQ(number("steady.frames"), 2);
  EXPECT_EQ(number("steady.callers.nvcodec.copies.host_to_device.bytes"), 50);
  EXPECT_EQ(number("steady.callers.nvcodec.copies.host_to_device.calls"), 2);
  EXPECT_EQ(number("steady.callers.ours.launches"), 3);
  EXPECT_EQ(number("steady.callers.ours.allocations.calls"), 0);
  EXPECT_EQ(number("steady.callers.ours.frees"), 0);
  EXPECT_EQ(number("steady.kernels.hog"), 1);
  EXPECT_EQ(number("steady.kernels['crowd::paint_outline(unsigned char*)']"), 2);
  EXPECT_EQ(number("stop.frames"), 0);
  EXPECT_EQ(number("stop.callers.ours.frees"), 1);
}

TEST_F(ledger, sums_up_callers_and_tells_places) {
  add("cuStreamSynchronize", ours_);
  add("cuStreamSynchronize", also_ours_);
  add("cuStreamSynchronize", also_ours_);
  add("cuMemcpyDtoH_v2", unknown_, 7);
  add("cuEventQuery", decoder_);
  add("cuGraphInstantiateWithFlags", ours_);

  EXPECT_EQ(number("stop.total.synchronising"), 4);
  EXPECT_EQ(number("stop.total.queries"), 1);
  EXPECT_EQ(number("stop.callers.ours.synchronising"), 3);
  EXPECT_EQ(number("stop.callers.ours.graphs"), 1);
  EXPECT_EQ(number("stop.callers.ours.functions.cuStreamSynchronize['libgstcrowd.so+0x20']"), 2);
  EXPECT_EQ(number("stop.callers.other.copies.device_to_host.bytes"), 7);
  EXPECT_EQ(number("stop.callers.other.synchronising"), 1);
}

/// Of a kernel, say ".map.launches".
auto device_time(const std::string& json, const std::string& what) {
  return number_at(json, "device_times" + what);
}

TEST_F(ledger, tells_how_long_kernels_ran) {
  for (const std::uint64_t nanoseconds : {300, 100, 250})
    ledger_.add_time("hog", {7, 1000 * nanoseconds, 1001 * nanoseconds});
  for (const char* kernel : {"_ZN5crowd13paint_outlineEPh", "_ZN12_GLOBAL__N_13mapEv", "_ZN13_GLOBAL__N__x3mapEv"})
    ledger_.add_time(kernel, {7, 5, 10});

  const std::string json = ledger_.as_json();
  const auto number = [&json](const std::string& what) { return device_time(json, what); };
  EXPECT_EQ(number(".hog.launches"), 3);
  EXPECT_EQ(number(".hog.total_ns"), 650);
  EXPECT_EQ(number(".hog.min_ns"), 100);
  EXPECT_EQ(number(".hog.median_ns"), 250);
  EXPECT_EQ(number(".hog.max_ns"), 300);
  EXPECT_EQ(number(".hog.alone_ns"), 650);
  EXPECT_EQ(number("['crowd::paint_outline(unsigned char*)'].launches"), 1);
  EXPECT_EQ(number("['(anonymous namespace)::map()'].launches"), 2);
  EXPECT_EQ(number_in(json, "stop.frames"), 0);
}

TEST_F(ledger, counts_what_runs_beside_an_earlier_kernel_once) {
  ledger_.add_time("reduce", {1, 40, 120});  // 20 of them after the map
  ledger_.add_time("map", {1, 0, 100});
  ledger_.add_time("late", {1, 200, 230});
  ledger_.add_time("inside", {1, 210, 220});
  ledger_.add_time("elsewhere", {2, 10, 60});

  const std::string json = ledger_.as_json();
  const auto alone = [&json](const std::string& kernel) { return device_time(json, "." + kernel + ".alone_ns"); };
  EXPECT_EQ(alone("map"), 100);
  EXPECT_EQ(alone("reduce"), 20);
  EXPECT_EQ(alone("late"), 30);
  EXPECT_EQ(alone("inside"), 0);
  EXPECT_EQ(alone("elsewhere"), 50);
  EXPECT_EQ(device_time(json, ".reduce.total_ns"), 80);
}

}  // namespace
