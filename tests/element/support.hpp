// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What all element tests share. Linking `element_test_dep` also brings a main() that runs the tests under GStreamer's
// leaks tracer and fails the program if an object is still alive at the end.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace crowd::test {

/// Runs the tests under the leaks tracer; what main() returns. For a main() of a test's own.
int run_all_tests(int argc, char** argv);

struct Release {
  void operator()(GstBuffer* p) const {
    gst_buffer_unref(p);
  }
  void operator()(GstBus* p) const {
    gst_object_unref(p);
  }
  void operator()(GstCaps* p) const {
    gst_caps_unref(p);
  }
  void operator()(GstElement* p) const {
    gst_object_unref(p);
  }
  void operator()(GstHarness* p) const {
    gst_harness_teardown(p);
  }
  void operator()(GstMemory* p) const {
    gst_memory_unref(p);
  }
  void operator()(GstMessage* p) const {
    gst_message_unref(p);
  }
  void operator()(GstQuery* p) const {
    gst_query_unref(p);
  }
  void operator()(GstStructure* p) const {
    gst_structure_free(p);
  }
  void operator()(GBytes* p) const {
    g_bytes_unref(p);
  }
  void operator()(GPtrArray* p) const {
    g_ptr_array_unref(p);
  }
};

/// Owns one reference: Ref<GstBuffer> buffer(gst_buffer_new()).
template <typename T>
using Ref = std::unique_ptr<T, Release>;

/// A system-memory NV12 frame of size bytes width * height * 3 / 2, filled with `fill`.
Ref<GstBuffer> make_frame(unsigned width, unsigned height, GstClockTime pts = 0, std::uint8_t fill = 16);

/// "video/x-raw(FEATURE),format=NV12,width=..,height=..,framerate=25/1"; no parentheses for an empty feature.
std::string video_caps(unsigned width, unsigned height, const std::string& feature = "");

struct Candidate {
  float x1, y1, x2, y2;
  float score;
  std::int32_t class_id = 0;
};

/// Names of classes for a GstCrowdBoxesMeta.
Ref<GPtrArray> make_labels(std::span<const std::string> names);

struct BoxesOptions {
  unsigned frame_width = 0;
  unsigned frame_height = 0;
  std::optional<unsigned> capacity = {};    ///< of the memory; default: as many as there are candidates
  std::optional<std::uint32_t> count = {};  ///< what the memory says; default: as many as there are candidates
  GPtrArray* labels = nullptr;
  std::optional<GstCrowdBoxesPlacement> placement = {};
  float confidence_slope = 0, confidence_offset = 0;
};

/// Attaches candidates as a GstCrowdBoxesMeta.
void add_boxes(GstBuffer* buffer, std::span<const Candidate> candidates, const BoxesOptions& options);

/// A GstVideoRegionOfInterestMeta as a reader of detections sees it.
struct Roi {
  std::string type;
  int id, parent_id;
  unsigned x, y, w, h;
  std::optional<double> confidence, x_min, y_min, x_max, y_max;  ///< of "detection"
  std::optional<int> label_id;
  bool has_nms;  ///< the rest is of "nms"
  int cluster_id;
  unsigned members, suppressed;
  double score;
  bool kept;
};

/// In the order they were attached.
std::vector<Roi> rois(GstBuffer* buffer);

unsigned count_metas(GstBuffer* buffer, GType api);

/// The next message of `type` on the bus, or null if there is none.
Ref<GstMessage> pop_message(GstBus* bus, GstMessageType type);

/// Text of an error or warning message, with its debug string.
std::string message_text(GstMessage* message);

/// The bus of an element that is in no pipeline, while it lives.
class ElementBus {
 public:
  explicit ElementBus(GstElement* element);
  ~ElementBus();
  ElementBus(const ElementBus&) = delete;
  ElementBus& operator=(const ElementBus&) = delete;

  /// Texts of the warnings since the last call.
  std::vector<std::string> warnings();

 private:
  Ref<GstBus> bus_{gst_bus_new()};
  Ref<GstElement> element_;
};

/// Takes the warnings off a bus and gives their texts.
std::vector<std::string> take_warnings(GstBus* bus);

/// Fails the test for each own property without nick or blurb, and each number whose blurb names neither unit nor range
/// (its first sentence must be more than the nick).
void expect_documented_properties(const char* element_name);

/// Fails the test unless an element that gets these caps posts one error, whose text has `remedy` in it; none if that
/// is empty.
void expect_remedy(const char* element_name, const char* caps, const char* remedy);

/// The text of the one error of an element, "NAME PROPERTY=VALUE ...", which must not start; "no error" if it says
/// none.
std::string start_error(const std::string& description);

/// Fails the test unless GLib refuses this value for a float property, with one warning, and leaves the property as
/// it is.
void expect_refused(GstElement* element, const char* property, double value);

/// Counts log lines of a category at `level` while it lives, from one thread at a time.
class LogCounter {
 public:
  LogCounter(const char* category, GstDebugLevel level);
  ~LogCounter();
  LogCounter(const LogCounter&) = delete;
  LogCounter& operator=(const LogCounter&) = delete;

  unsigned count() const {
    return static_cast<unsigned>(g_atomic_int_get(&count_));
  }
  /// The last line counted.
  const std::string& last() const {
    return last_;
  }

 private:
  static void log(GstDebugCategory* category, GstDebugLevel level, const char* file, const char* function, int line,
                  GObject* object, GstDebugMessage* message, gpointer self);

  std::string category_;
  GstDebugLevel level_;
  mutable gint count_ = 0;
  std::string last_;
};

}  // namespace crowd::test
