// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Elements of GStreamer beside ours, on the same frames: tensors in, objects out. From GStreamer 1.26 on.
#pragma once

#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "support.hpp"

namespace crowd::test {

/// Ends the test as skipped where this GStreamer lacks one of the elements.
#define NEED_ELEMENTS(...)                                                            \
  do {                                                                                \
    if (const std::string missing = missing_element({__VA_ARGS__}); !missing.empty()) \
      GTEST_SKIP() << "there is no " << missing << " in this GStreamer";              \
  } while (false)

/// The first that is not there; empty: none.
std::string missing_element(std::initializer_list<const char*> names);

/// A tensor of float32, in C order.
struct FloatTensor {
  const char* id;
  std::vector<gsize> dims;
  std::span<const float> values;
};

/// Attaches them as one GstTensorMeta, with the order of dims that GStreamer's decoder of that id asks for.
void add_tensors(GstBuffer* buffer, std::span<const FloatTensor> tensors);

/// A GstAnalyticsODMtd.
struct Detected {
  int x, y, width, height;
  float confidence;
  std::string label;
  bool operator==(const Detected&) const = default;
};
void PrintTo(const Detected& object, std::ostream* out);

/// In the order of the relation meta.
std::vector<Detected> detected_objects(GstBuffer* buffer);

/// An element, or several, in a harness.
class Peer {
 public:
  /// `launch` as in a launch line; frames are I420 of that size, and have tensors as `decoder` wants them in caps.
  Peer(const std::string& launch, unsigned width, unsigned height, const char* decoder = nullptr);

  /// A frame of these tensors, which comes out with what the elements attach.
  Ref<GstBuffer> pass(std::span<const FloatTensor> tensors);
  Ref<GstBuffer> pass(Ref<GstBuffer> buffer);

  GstHarness* harness() const {
    return harness_.get();
  }
  /// A black frame.
  Ref<GstBuffer> frame() const;

 private:
  unsigned width_, height_;
  Ref<GstHarness> harness_;
};

}  // namespace crowd::test
