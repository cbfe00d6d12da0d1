// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * Synthetic crowds: what a face detector leaves on a frame before clustering, piles of windows around each face, and
 * the faces themselves. The scenes are the data sets of Oro et al. 2020 (section 5, table 4) in kind, not in content.
 *
 * - oscars: a group picture, 4646x1800: 147 faces in seven rows, the front ones larger. The same on every frame, unless
 *   faces are uncovered one by one. Own number of candidates: 2895.
 * - crowd-run: 1920x1080: about 60 of 66 people in the picture, crossing it at their own speed, nearer ones larger. Own
 *   number of candidates: 360 to 698, changing from frame to frame.
 * - mosaic: 3840x2160: four crowd-runs with different people, one in each quarter. Own number: the sum of the four.
 * - uniform: 3840x2160: no structure and no objects, other boxes on each frame. Own number: 4096.
 *
 * A window is a face's square, moved and scaled at random (see SceneSettings::jitter); its score, in (0, 1], falls with
 * the distance from the face. Boxes lie within the frame (of mosaic: within their quarter). All is made in the
 * scene's own frame and then stretched to the frame asked for.
 */

#pragma once

#include <cstdint>
#include <vector>

#include "inject/scene/detections.hpp"

namespace crowd::scene {

enum class SceneKind { oscars, crowd_run, mosaic, uniform };

struct SceneSettings {
  SceneKind kind = SceneKind::crowd_run;
  std::uint64_t seed = 1;
  std::uint32_t classes = 1;       /**< at least 1; an object's class is drawn once, a uniform box's on each frame */
  float jitter = 0.06f;            /**< of a window's place and size, standard deviation as a part of the face's side */
  std::uint32_t uncover_every = 0; /**< oscars: frame n shows the first n / uncover_every faces; 0: all of them */
};

/** How many candidates a frame gets: the scene's own number, or exactly so many. */
constexpr std::int64_t own_number = -1;

/**
 * With more jitter windows would leave their faces. Greedy NMS at IoU 0.5 leaves one box a face
 * at 0.06, three at 0.12.
 */
constexpr float max_jitter = 0.14f;

class Scene {
 public:
  explicit Scene(const SceneSettings& settings);

  /** The frame that the scene is made for. */
  Size size() const;

  /**
   * Replaces `candidates` and `objects` by those of frame `number`: a pure function of the settings and the arguments,
   * in O(candidates + objects). Allocates only where the vectors have to grow. `wanted` counts candidates of covered
   * faces too: with uncover_every, a frame has the part of them whose faces show. Not for concurrent calls.
   */
  void frame(std::uint64_t number, Size frame, std::int64_t wanted, CandidateList& candidates,
             std::vector<TrueObject>& objects);

 private:
  struct Tile {
    Box area;
    std::uint64_t seed;
    std::uint32_t first_id;
  };
  struct Face {
    float x, y, size; /**< centre and side in the scene's frame */
    std::uint32_t id;
    bool shown;
  };
  struct Jitter;

  void place_rows(std::uint64_t number);
  void place_runners(const Tile& tile, std::uint64_t number);
  void add_objects(Size frame, std::vector<TrueObject>& objects) const;
  void add_windows(const Tile& tile, std::uint64_t number, std::uint64_t wanted, Size frame,
                   CandidateList& candidates) const;
  void add_window(const Tile& tile, const Face& face, const Jitter& jitter, Size frame,
                  CandidateList& candidates) const;
  void add_uniform(std::uint64_t number, std::uint64_t wanted, Size frame, CandidateList& candidates) const;
  Box stretched(const Box& box, Size frame) const;
  std::int32_t class_of(std::uint32_t id) const;

  SceneSettings settings_;
  std::vector<Tile> tiles_;
  std::vector<std::uint32_t> seats_; /**< oscars: the seat of each face */
  std::vector<Face> faces_;          /**< of the tile and frame at hand */
};

}  // namespace crowd::scene
