// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>

#include "support.hpp"

// Of the address sanitizer; null in other builds.
extern "C" [[gnu::weak]] void __lsan_do_leak_check();

namespace {

std::ptrdiff_t count_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

// A thread that ends while leaks are looked for may crash the sanitizer, and at the end of a process OpenCV's threads
// do end. So leaks are looked for once before that, when threads have stopped to come and go.
void look_for_leaks() {
  using namespace std::chrono_literals;
  std::ptrdiff_t before = 0, now = count_threads();
  for (int tries = 0; before != now && tries < 100; tries++) {
    std::this_thread::sleep_for(50ms);
    before = std::exchange(now, count_threads());
  }
  __lsan_do_leak_check();
}

// The leaks tracer reports what is alive when gst_deinit() finalises it, and only to the log.
void count_leak(GstDebugCategory* category, GstDebugLevel, const char*, const char*, int, GObject*,
                GstDebugMessage* message, gpointer leaks) {
  const char* text = gst_debug_message_get(message);
  if (std::strcmp(gst_debug_category_get_name(category), "GST_TRACER") != 0 || !g_str_has_prefix(text, "object-alive"))
    return;
  std::fprintf(stderr, "leaked: %s\n", text);
  ++*static_cast<unsigned*>(leaks);
}

bool leaks_tracer_runs() {
  GList* tracers = gst_tracing_get_active_tracers();
  const bool runs = tracers != nullptr;
  g_list_free_full(tracers, gst_object_unref);
  return runs;
}

}  // namespace

int crowd::test::run_all_tests(int argc, char** argv) {
  g_setenv("GST_TRACERS", "leaks", FALSE);
  testing::InitGoogleTest(&argc, argv);
  gst_init(&argc, &argv);
  if (!leaks_tracer_runs()) {
    std::fprintf(stderr, "no leaks tracer: install GStreamer's coretracers plugin\n");
    return 1;
  }
  const int failed = RUN_ALL_TESTS();
  unsigned leaks = 0;
  gst_debug_add_log_function(count_leak, &leaks, nullptr);
  gst_debug_set_threshold_for_name("GST_TRACER", GST_LEVEL_TRACE);
  gst_debug_set_active(TRUE);
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_deinit();
  if (leaks)
    std::fprintf(stderr, "%u objects leaked; GST_LEAKS_TRACER_STACK_TRACE=1 says where they were made\n", leaks);
  if (__lsan_do_leak_check)
    look_for_leaks();
  return failed || leaks;
}
