// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The texts of a frame, composed and placed: placement.hpp by one block, a label a thread. Labels that no better-ranked
// one can reach take their first places at the same time; the others follow in the order of their rank, each looked at
// by all threads, which hold what has been placed.
#pragma once

#include "overlay/draw/painter_boxes.cuh"

namespace crowd::draw {

/// How many labels there are at most, placed or not.
__device__ inline std::uint32_t labels_of(const PaintJob& job) {
  const bool any = job.parts.labels || job.parts.scores || job.parts.counts;
  return any ? min(size_of(job.survivors.boxes), std::uint32_t{max_labels}) : 0;
}

/// A Text that becomes a tail.
struct TailText {
  Text& text;

  __device__ int length() const {
    return text.label_length + text.tail_length;
  }
  __device__ bool empty() const {
    return length() == 0;
  }
  __device__ void put(char character) {
    if (length() < static_cast<int>(longest_text))
      text.tail[text.tail_length++] = static_cast<std::uint8_t>(ascii_glyph(character));
  }
};

/// Composes the label of a survivor and returns how many characters it has; none if its box is not seen.
__device__ inline int compose_label(const PaintJob& job, std::uint32_t index, Text& text, PixelBox& pixels) {
  text.label_length = text.tail_length = 0;
  const DeviceBoxes& boxes = job.survivors.boxes;
  if (!find_pixels(boxes, load_box(boxes, index), pixels) || !is_visible(pixels, job.width, job.height))
    return 0;
  text.color = color_of(job, job.survivors, index);
  const LabelEntry* const label = job.parts.labels ? label_of(job, boxes, index) : nullptr;
  text.label = label ? job.label_codes + label->first : nullptr;
  text.label_length = label ? label->length : 0;
  TailText tail{text};
  const LabelParts parts{job.parts.labels, job.parts.scores && boxes.scores, job.parts.counts && boxes.members};
  put_numbers(tail, parts, parts.scores ? shown_score(boxes.scores[index], boxes.calibration) : 0,
              parts.counts ? boxes.members[index] : 0);
  return tail.length();
}

/// Composes the summary and returns its background; an empty box if there is none.
__device__ inline PixelBox make_summary(const PaintJob& job) {
  if (!job.with_summary)
    return {0, 0, 0, 0};
  Text& text = job.texts[max_labels];
  text.color = black;
  text.label = nullptr;
  text.label_length = text.tail_length = 0;
  TailText tail{text};
  put_summary(tail, job.summary.candidates ? *job.summary.candidates : 0, job.summary.survivors);
  text.background = text_box(0, 0, tail.length(), summary_scale * job.scale);
  return text.background;
}

struct PlacingMemory {
  PixelBox summary;
  LabelPlaces labels[max_labels];
  unsigned taken[max_labels];           ///< places of each that meet what was placed before
  unsigned contested[max_labels / 32];  ///< labels that a better-ranked one may meet
};

/// Whether a better-ranked label may take the first place of one.
__device__ inline bool is_contested(const LabelPlaces* labels, unsigned label, const PixelBox& first) {
  for (unsigned i = 0; i < label; ++i)
    if (labels[i].usable && !is_empty(intersection(labels[i].reach(), first)))
      return true;
  return false;
}

constexpr PixelBox nowhere = {0, 0, 0, 0};

/// Where this thread's label stands, nowhere if it finds no place. All threads of the block come by.
__device__ inline PixelBox place_label(PlacingMemory& memory, std::uint32_t labels, const LabelPlaces& mine) {
  const unsigned self = threadIdx.x;
  PixelBox placed = mine.usable ? mine.box(first_place(mine.usable)) : nowhere;
  const bool contested = mine.usable && is_contested(memory.labels, self, placed);
  const unsigned votes = __ballot_sync(~0U, contested);
  if (self % 32 == 0)
    memory.contested[self / 32] = votes;
  if (contested)
    placed = nowhere;
  __syncthreads();
  for (std::uint32_t word = 0; 32 * word < labels; ++word)
    for (unsigned rest = memory.contested[word]; rest != 0; rest &= rest - 1) {
      const unsigned next = 32 * word + static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);
      const unsigned meeting = self < next && !is_empty(placed) ? memory.labels[next].meeting(placed) : 0;
      if (meeting)
        atomicOr(&memory.taken[next], meeting);
      __syncthreads();
      const unsigned left = self == next ? mine.usable & ~memory.taken[self] : 0;
      if (left)
        placed = mine.box(first_place(left));
    }
  return placed;
}

/// Launched with a thread for each label there may be, of whole warps.
__device__ inline void place_texts(const PaintJob& job, PlacingMemory& memory) {
  const std::uint32_t labels = labels_of(job);
  const unsigned self = threadIdx.x;
  if (self == 0)
    memory.summary = make_summary(job);
  __syncthreads();
  LabelPlaces mine{};
  if (self < labels) {
    Text& text = job.texts[self];
    PixelBox pixels{};
    const int length = compose_label(job, self, text, pixels);
    if (length > 0)
      mine = places_of(pixels, length, job.scale, job.width, job.height, memory.summary);
  }
  memory.labels[self] = mine;
  memory.taken[self] = 0;
  __syncthreads();
  const PixelBox placed = place_label(memory, labels, mine);
  if (self < labels)
    job.texts[self].background = placed;
}

}  // namespace crowd::draw
