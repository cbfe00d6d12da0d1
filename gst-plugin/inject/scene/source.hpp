// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "inject/scene/recording.hpp"
#include "inject/scene/scene.hpp"

namespace crowd::scene {

/** Candidates by frame number, from a synthetic scene or from a recording. */
class Source {
 public:
  explicit Source(const SceneSettings& settings);
  /** `recorded`: the frame that the boxes refer to where the file does not say; 0 x 0: the frame asked for. */
  Source(Recording recording, Size recorded);

  /** What a frame asks for. `wanted` is a scene's alone (see Scene::frame), `loop` a recording's. */
  struct Request {
    std::uint64_t number;
    Size frame;
    std::int64_t wanted;
    bool loop;
  };

  /** The candidates of a frame, valid until the next call; objects() are then the true ones. */
  CandidatesView frame(const Request& request);
  /** Those of a recording's first frame that has any, in its own pixels; none of a scene. */
  CandidatesView first_candidates() const;
  const std::vector<TrueObject>& objects() const {
    return objects_;
  }
  bool has_objects() const {
    return std::holds_alternative<Scene>(source_);
  }
  /** Name of each class; empty if there are none. */
  const std::vector<std::string>& labels() const {
    return labels_;
  }

 private:
  CandidatesView recorded_frame(const Recording& recording, const Request& request);

  std::variant<Scene, Recording> source_;
  Size recorded_{0, 0};
  std::vector<std::string> labels_;
  CandidateList candidates_;
  std::vector<TrueObject> objects_;
};

}  // namespace crowd::scene
