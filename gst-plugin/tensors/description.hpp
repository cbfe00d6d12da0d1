// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a model's file does not say: which tensor holds what, and how pictures become its input. Read from a key file
// with the keys of GStreamer 1.28's .modelinfo, and a group [crowd] of our own for what these lack:
//
//   [modelinfo]              version=1.0, group-id=NAME of the layout, see layouts.hpp
//   [NAME of a tensor]       id=, type=float32|float16|uint8, dims= with -1 for any, dir=input|output; of the input
//                            ranges=MIN,MAX for each channel, separated by semicolons: what 0 and 255 become
//   [crowd]                  colors=rgb|bgr, fit=stretch|letterbox, multiple-of=, max-side=, activation=none|sigmoid,
//                            classes=, background=yes|no, labels=FILE and the parameters of the layout
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tensors/tensor.hpp"

namespace crowd::tensors {

/// What samples of 0 and of 255 become.
struct ValueRange {
  float min = 0, max = 255;
};

enum class Fit : std::uint8_t {
  stretch,    ///< the picture fills the input, whatever its shape
  letterbox,  ///< the picture keeps its shape; the rest, right and below, is grey 114
};

struct Input {
  TensorInfo tensor;
  bool planar = true;  ///< [batch, 3, height, width]; else [batch, height, width, 3]
  bool rgb = true;     ///< order of the channels; else blue first
  std::array<ValueRange, 3> ranges;
  Fit fit = Fit::stretch;
  int multiple_of = 1;  ///< of sides that are not fixed, pixels
  int max_side = 1280;  ///< of sides that are not fixed: larger pictures are scaled down, pixels

  /// 0 where the network takes any.
  int width() const {
    return side(planar ? 3 : 2);
  }
  int height() const {
    return side(planar ? 2 : 1);
  }

 private:
  int side(std::size_t i) const {
    return tensor.dims.size() == 4 && tensor.dims[i] > 0 ? static_cast<int>(tensor.dims[i]) : 0;
  }
};

struct Description {
  std::string group_id;  ///< names the layout
  Input input;
  std::vector<TensorInfo> outputs;
  std::map<std::string, std::string> parameters;  ///< keys of [crowd] that the layout reads
  std::string labels;                             ///< a file with the name of a class on each line; may be empty
};

/// Reads a description. Nothing, with the reason and remedy in `problem`, where there is no such file, it has unknown
/// keys or groups without meaning, or values out of range. Paths in it are relative to its folder.
std::optional<Description> read_description(const std::string& path, std::string& problem);

/// The same of a text, as if it was that of the file `path`.
std::optional<Description> parse_description(const std::string& text, const std::string& path, std::string& problem);

/// Names of classes, one on each line, at most 65536 of at most 256 bytes of UTF-8. Nothing, with the reason,
/// otherwise.
std::optional<std::vector<std::string>> read_labels(const std::string& path, std::string& problem);

}  // namespace crowd::tensors
