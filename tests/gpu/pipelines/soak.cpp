// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * soak EARLY PIPELINE...: plays a pipeline that has one fakesink, and compares the memory of the process and of the
 * device at its end with what it was after EARLY buffers. The exit status is 1 if either has grown by more than a few
 * pages that an allocator may keep.
 */

#include <cuda_runtime.h>
#include <gst/gst.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <unistd.h>

#include "pipeline.hpp"

namespace {

constexpr std::int64_t host_slack = 4 << 20;

struct Memory {
  std::int64_t host, device;
};

std::optional<Memory> used() {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess)
    return std::nullopt;
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return Memory{resident * sysconf(_SC_PAGESIZE), static_cast<std::int64_t>(total - free)};
}

struct Soak {
  std::uint64_t early, frames = 0;
  std::optional<Memory> before = {}, after = {};
};

GstPadProbeReturn see(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& soak = *static_cast<Soak*>(data);
  if (++soak.frames == soak.early)
    soak.before = used();
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn see_event(GstPad*, GstPadProbeInfo* info, gpointer data) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    static_cast<Soak*>(data)->after = used();
  return GST_PAD_PROBE_OK;
}

bool play(GstElement* pipeline, Soak& soak) {
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "fakesink0");
  if (!sink)
    return false;
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see, &soak, nullptr);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, see_event, &soak, nullptr);
  gst_object_unref(pad);
  gst_object_unref(sink);
  return crowd::play_to_end("soak", pipeline);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc < 3 || !used()) {
    std::fprintf(stderr, "usage: soak EARLY PIPELINE..., where there is a GPU\n");
    return 2;
  }
  Soak soak{std::strtoull(argv[1], nullptr, 10)};
  std::string description;
  for (int i = 2; i < argc; ++i)
    description += std::string(i > 2 ? " " : "") + argv[i];
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(description.c_str(), &error);
  const bool ended = pipeline && !error && play(pipeline, soak);
  g_clear_error(&error);
  g_clear_pointer(&pipeline, gst_object_unref);
  if (!ended || !soak.before || !soak.after) {
    std::fprintf(stderr, "soak: the pipeline did not play to its end\n");
    return 1;
  }
  const std::int64_t host = soak.after->host - soak.before->host, device = soak.after->device - soak.before->device;
  std::printf("%llu frames; since frame %llu: host %+lld KiB of %lld, device %+lld KiB of %lld\n",
              static_cast<unsigned long long>(soak.frames), static_cast<unsigned long long>(soak.early),
              static_cast<long long>(host / 1024), static_cast<long long>(soak.after->host / 1024),
              static_cast<long long>(device / 1024), static_cast<long long>(soak.after->device / 1024));
  return host > host_slack || device > 0 ? 1 : 0;
}
