// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * painter.hpp: the drawing of composer.hpp and canvas.hpp on a frame in device memory: the same picture, byte for byte.
 *
 * A kernel places the texts, by one block in at most `max_labels` steps whatever the boxes; a second one paints in
 * place and writes only the samples that the primitives cover. They read boxes and their number on the device: the host
 * does not wait for them.
 *
 *     DevicePainter painter;
 *     painter.set_labels(names);                                      // when they change
 *     painter.paint(canvas, style, candidates, survivors, {}, stream);  // each frame
 *
 * The CUDA context that the memory belongs to has to be current in every call, and where the painter is destroyed
 * unless release() came before.
 */
#pragma once

#include <span>
#include <string>

#include "base/deviceoutcome.hpp"
#include "overlay/draw/canvas.hpp"
#include "overlay/draw/composer.hpp"
#include "overlay/draw/device_boxes.hpp"
#include "overlay/draw/painter_job.hpp"

struct CUstream_st;

namespace crowd::draw {

/** Paints. For one thread at a time. */
class DevicePainter {
 public:
  /**
   * What the labels of the following frames are, UTF-8; null is none. Labels that are the same as before cost a
   * comparison; others are uploaded, once what was painted with the last ones is done. Unless it is done there are no
   * labels. May throw std::bad_alloc.
   */
  DeviceReport set_labels(std::span<const char* const> labels);

  /**
   * Enqueues the painting of a frame: two launches, which neither allocate nor wait, but in the first call that has
   * texts and the first on another stream than the last. Unless it is done nothing is painted.
   *
   * canvas: its components point to device memory, in samples of a byte. Either all components take glyphs, or those
   * that do not are all subsampled alike, by 1 or 2 pixels. So it is in CROWD_DRAW_FORMATS of 8 bits.
   */
  DeviceReport paint(const Canvas& canvas, const Style& style, const DeviceBoxes& candidates,
                     const DeviceBoxes& survivors, const DeviceSummary& summary, CUstream_st* stream);

  /** Frees all device memory; set_labels() and paint() bring it back. */
  void release();

 private:
  bool has_labels(std::span<const char* const> labels) const;
  void set_labels_of(PaintJob& job) const;
  DeviceReport make_room(const PaintJob& job, CUstream_st* stream);

  std::string names_;  ///< the labels, a zero byte after each
  LabelMemory labels_;
  PainterMemory texts_;            ///< of the frame being painted
  CUstream_st* stream_ = nullptr;  ///< on which they are
};

}  // namespace crowd::draw
