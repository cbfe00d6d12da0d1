// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "inject/scene/detections.hpp"

namespace crowd::scene {

/**
 * The objects of a scene as MOTChallenge gt.txt, one a line:
 *
 *     frame,id,left,top,width,height,1,class,1
 *
 * Frames and classes count from 1, coordinates are pixels in the shortest form that reads back as the same float.
 * Frames must come in rising order; one that does not is not written again.
 */
class TruthFile {
 public:
  /** Opens the file for writing, emptied; check ok(). */
  explicit TruthFile(const std::string& path);

  /** Each of these returns false, and says why in error(), from the first failure on. */
  bool ok() const {
    return error_ == 0;
  }
  bool write(std::uint64_t frame, std::span<const TrueObject> objects);
  bool flush();
  bool close();

  std::string error() const;

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      std::fclose(file);
    }
  };
  std::unique_ptr<std::FILE, Closer> file_;
  std::uint64_t next_frame_ = 0;
  int error_ = 0;
};

}  // namespace crowd::scene
