// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "support.hpp"

namespace {

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
  return failed || leaks;
}
