// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the writers of survivors share: where an object lies on the frame, what it is called, and what NMS made of it.
#pragma once

#include <array>

#include "meta/adapter.hpp"

namespace crowd::meta {

/// Edges of a box in the order x1, y1, x2, y2.
using Edges = std::array<double, 4>;

struct PixelSpan {
  guint start;
  guint length;
};

struct PixelRectangle {
  PixelSpan x, y;
};

/// Pixels; may leave the frame.
struct WholeRectangle {
  gint x, y, width, height;
};

/// From the coordinates of a frame's candidates to its pixels.
class Placer {
 public:
  /// `size`: of the frame, if `info` has none.
  Placer(const BoxesInfo& info, FrameSize size);

  /// In pixels of the frame, not clipped to it.
  Edges edges(const CrowdNmsBox& box) const;

  /// The smallest rectangle around edges, clipped to the frame: of width or height 0 where they lie outside.
  PixelRectangle rectangle(const Edges& edges) const;

  /// The same without clipping, where the candidates are not to be clipped.
  WholeRectangle whole_rectangle(const Edges& edges) const;

  const FrameSize& frame() const {
    return frame_;
  }

 private:
  GstCrowdBoxesPlacement placement_;
  FrameSize frame_;
  double slack_;
  bool clip_;
};

/// Name of a candidate's class; "object" without one.
GQuark label_of(const Candidates& candidates, std::uint32_t candidate);

/// What NMS made of a candidate.
struct Cluster {
  gint id = -1;  ///< place of the survivor in rank order
  guint members = 0;
  bool kept = false;
};

/// `verdict` with places and representatives.
Cluster cluster_of(const Verdict& verdict, std::uint32_t candidate);

/// The survivor that represents a candidate that is none itself; CROWD_NMS_NONE if there is none. Likewise.
std::uint32_t keeper_of(const Verdict& verdict, std::uint32_t candidate);

/// The candidate whose region is afterwards the parent of what was a child of this one's: itself if its region stays,
/// else its representative; CROWD_NMS_NONE if there is none.
std::uint32_t heir_of(const Verdict& verdict, std::uint32_t candidate, Mode mode);

/// The id of a candidate's region, which had `before`: that of its object. Parents are not given the id 0, which as a
/// `parent_id` says that there is none.
int region_id_of(const ObjectIds& ids, std::uint32_t candidate, int before, bool may_be_parent);

}  // namespace crowd::meta
