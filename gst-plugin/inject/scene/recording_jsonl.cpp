// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "inject/scene/json_text.hpp"
#include "inject/scene/json_value.hpp"
#include "inject/scene/number.hpp"
#include "inject/scene/recording_parsers.hpp"

namespace crowd::scene {

namespace {

constexpr std::int32_t no_class = -1;

// What our own objects say, and the "detection" of DL Streamer's under other names.
struct ObjectFields {
  std::optional<float> score;
  std::int32_t object_class = no_class;
  std::string_view label;
};

ObjectFields detection_of(json::object object) {
  ObjectFields fields;
  for_members(object, std::array<std::string_view, 3>{"confidence", "label_id", "label"},
              [&](std::string_view name, json::value value) {
                if (name == "confidence")
                  fields.score = to_float(number_of(value, name));
                else if (name == "label_id")
                  fields.object_class = static_cast<std::int32_t>(whole_of(value, name, max_class));
                else
                  fields.label = text_of(value, name);
              });
  return fields;
}

Box corners_of(json::value value, std::string_view name) {
  std::array<float, 4> corners{};
  std::size_t n = 0;
  if (is(value, json::json_type::array)) {
    for (auto element : taken(value.get_array())) {
      const json::value corner = taken(std::move(element));
      if (n++ == corners.size())
        break;
      corners[n - 1] = to_float(number_in(corner, "a corner of ", name));
    }
  }
  if (n != corners.size())
    throw Misfit{quoted(name) + " is not an array of four numbers, [x1, y1, x2, y2]"};
  return {corners[0], corners[1], corners[2], corners[3]};
}

std::vector<float> feature_of(json::value value, std::string_view name) {
  std::vector<float> feature;
  if (is(value, json::json_type::array)) {
    for (auto element : taken(value.get_array())) {
      if (feature.size() == max_feature_length)
        throw Misfit{quoted(name) + " has more than " + std::to_string(max_feature_length) + " numbers"};
      feature.push_back(to_float(number_in(taken(std::move(element)), "a number of ", name)));
    }
  }
  if (feature.empty())
    throw Misfit{quoted(name) + " is not an array of numbers"};
  return feature;
}

/** A member of "objects". */
class JsonObject {
 public:
  explicit JsonObject(json::object object) {
    for_members(object, names, [this](std::string_view name, json::value value) { take(name, value); });
  }

  Box box() const {
    if (box_ && has_confidence_ && !fields_.score)
      throw Misfit{
          "\"confidence\" beside \"box\" instead of \"score\"; if it is from an older gst-crowd-read-survivors, whose "
          "\"box\" is x, y, width, height, make the file again with this one"};
    if (box_)
      return *box_;
    if (!extents_[0])
      throw Misfit{R"(an object has neither "box" nor "x", "y", "w", "h")"};
    for (std::size_t i = 0; i < extents_.size(); i++) {
      if (!extents_[i])
        throw Misfit{quoted(names[i]) + " is not a number"};
    }
    const auto [x, y, w, h] = extents_;
    return {to_float(*x), to_float(*y), to_float(*x + *w), to_float(*y + *h)};
  }
  float score() const {
    return detection_.score ? *detection_.score : fields_.score.value_or(1.0f);
  }
  std::int32_t object_class() const {
    return detection_.object_class == no_class ? fields_.object_class : detection_.object_class;
  }
  std::string_view label() const {
    return detection_.label.empty() ? fields_.label : detection_.label;
  }

  const Extra& extra() const {
    return extra_;
  }
  const std::vector<float>& feature() const {
    return feature_;
  }

 private:
  static constexpr std::array<std::string_view, 15> names = {
      "x",         "y",          "w",       "h",        "box",         "score",   "class", "label",
      "detection", "confidence", "density", "proposal", "visible-box", "feature", "model"};

  void take(std::string_view name, json::value value) {
    if (name == "box") {
      box_ = corners_of(value, name);
    } else if (name == "score") {
      fields_.score = to_float(number_of(value, name));
    } else if (name == "class") {
      fields_.object_class = static_cast<std::int32_t>(whole_of(value, name, max_class));
    } else if (name == "label") {
      fields_.label = text_of(value, name);
    } else if (name == "detection") {
      detection_ = detection_of(object_of(value, name));
    } else if (name == "confidence") {
      check(value);
      has_confidence_ = true;
    } else if (name == "density") {
      extra_.density = to_float(number_of(value, name));
    } else if (name == "proposal") {
      extra_.proposal = static_cast<std::uint32_t>(whole_of(value, name, UINT32_MAX));
    } else if (name == "visible-box") {
      extra_.visible = corners_of(value, name);
    } else if (name == "feature") {
      feature_ = feature_of(value, name);
    } else if (name == "model") {
      extra_.model = static_cast<std::uint8_t>(whole_of(value, name, max_model));
    } else {
      extents_[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())] = number_of(value, name);
    }
  }

  std::optional<Box> box_;
  std::array<std::optional<double>, 4> extents_;
  ObjectFields fields_, detection_;
  bool has_confidence_ = false;
  Extra extra_{};
  std::vector<float> feature_;
};

/** Objects of a line, which have the same beside their boxes. */
class AlikeObjects {
 public:
  void take(const JsonObject& object) {
    const Extra& extra = object.extra();
    const std::size_t length = object.feature().size();
    if (std::exchange(any_, true)) {
      same(extra.density.has_value() == first_.density.has_value(), "density");
      same(extra.proposal.has_value() == first_.proposal.has_value(), "proposal");
      same(extra.visible.has_value() == first_.visible.has_value(), "visible-box");
      same(extra.model.has_value() == first_.model.has_value(), "model");
      same((length == 0) == (first_.feature_length == 0), "feature");
      if (length != first_.feature_length)
        throw Misfit{"\"feature\" has " + std::to_string(first_.feature_length) + " numbers in one object and " +
                     std::to_string(length) + " in another"};
    } else {
      first_ = extra;
      first_.feature_length = length;
    }
  }

 private:
  static void same(bool alike, std::string_view name) {
    if (!alike)
      throw Misfit{quoted(name) + " is there in some objects of the line and not in others"};
  }

  Extra first_{};
  bool any_ = false;
};

Size resolution_of(json::object object) {
  std::optional<double> width, height;
  for_members(
      object, std::array<std::string_view, 2>{"width", "height"},
      [&](std::string_view name, json::value value) { (name == "width" ? width : height) = number_of(value, name); });
  if (!width || !height)
    throw Misfit{quoted(width ? "height" : "width") + " is not a number"};
  const Size size{to_float(*width), to_float(*height)};
  if (!(size.width > 0 && size.height > 0))
    throw Misfit{"the width or height of \"resolution\" is not above 0"};
  return size;
}

class JsonlParser : public LineParser {
 public:
  std::optional<std::string> parse(std::string_view text, RecordingBuilder& builder) override {
    const std::uint64_t due = next_frame_++;
    try {
      load(text);
      const std::uint64_t frame = read(builder).value_or(due);
      if (frame > static_cast<std::uint64_t>(max_frame))
        throw Misfit{"the frame after " + std::to_string(max_frame) +
                     ", which is the last one there can be; the numbers of frames start at 0"};
      builder.end_line(frame);
      next_frame_ = frame + 1;
    } catch (const Misfit& misfit) {
      return misfit.reason;
    }
    return std::nullopt;
  }

 private:
  void load(std::string_view text) {
    if (text.find('\0') != std::string_view::npos)
      throw Misfit{"not JSON: a zero byte"};
    if (text.front() != '{')
      throw Misfit{"not a JSON object"};
    if (is_nested_too_deeply(text))
      throw Misfit{"nested more than " + std::to_string(max_json_depth) + " levels deep"};
    if (text.back() != '}')
      throw Misfit{"not JSON: the line does not end with the \"}\" of its object; jq -c writes an object a line"};
    padded_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    padded_.assign(text);
    padded_.append(simdjson::SIMDJSON_PADDING, ' ');
    if (parser_.capacity() < text.size()) {
      const std::size_t grown = std::min(2 * parser_.capacity(), parser_.max_capacity());
      if (const auto error = parser_.allocate(std::max(text.size(), grown)))
        refuse(error);
    }
    document_ = taken(parser_.iterate(padded_.data(), text.size(), padded_.size()));
  }

  // The line's candidates, and its frame if it says which.
  std::optional<std::uint64_t> read(RecordingBuilder& builder) {
    std::optional<std::uint64_t> frame;
    std::optional<Size> resolution;
    bool has_objects = false, has_survivors = false;
    for_members(taken(document_.get_object()),
                std::array<std::string_view, 4>{"frame", "resolution", "objects", "survivors"},
                [&](std::string_view name, json::value value) {
                  if (name == "frame") {
                    frame = static_cast<std::uint64_t>(whole_of(value, name, max_frame));
                  } else if (name == "resolution") {
                    resolution = resolution_of(object_of(value, name));
                  } else if (name == "objects") {
                    has_objects = true;
                    read_objects(value, builder);
                  } else {
                    has_survivors = true;
                    check(value);
                  }
                });
    if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS)
      throw Misfit{"more than one object on the line; write one a line, say with jq -c"};
    if (!has_objects && has_survivors)
      throw Misfit{
          "\"survivors\" instead of \"objects\", from an older gst-crowd-read-survivors, whose \"box\" is x, y, width, "
          "height; make the file again with this one"};
    // What gvametaconvert add-empty-results=true writes of a frame without objects has a resolution.
    if (!has_objects && !resolution)
      throw Misfit{"no array \"objects\""};
    if (resolution && !builder.agree_on_resolution(*resolution))
      throw Misfit{"\"resolution\" differs from the one of an earlier line"};
    return frame;
  }

  static void read_objects(json::value value, RecordingBuilder& builder) {
    if (!is(value, json::json_type::array))
      throw Misfit{"no array \"objects\""};
    AlikeObjects alike;
    for (auto element : taken(value.get_array())) {
      const json::value member = taken(std::move(element));
      if (!is(member, json::json_type::object))
        throw Misfit{"a member of \"objects\" is not an object"};
      const JsonObject object(object_of(member, "objects"));
      alike.take(object);
      add(object, builder);
    }
  }

  static void add(const JsonObject& object, RecordingBuilder& builder) {
    builder.add(object.box(), object.score(), class_of(object, builder));
    const Extra& extra = object.extra();
    if (extra.density || extra.proposal || extra.visible || extra.model || !object.feature().empty())
      builder.add_extra(extra, object.feature());
  }

  static std::int32_t class_of(const JsonObject& object, RecordingBuilder& builder) {
    const std::int32_t own = object.object_class();
    const std::string_view label = object.label();
    if (label.empty())
      return own == no_class ? 0 : own;
    if (own != no_class) {
      builder.name_class(own, label);
      return own;
    }
    if (const auto named = builder.class_named(label))
      return *named;
    throw Misfit{"more than " + std::to_string(max_class + 1) + " different labels"};
  }

  json::parser parser_;
  json::document document_;
  std::string padded_;
  std::uint64_t next_frame_ = 0;
};

}  // namespace

std::unique_ptr<LineParser> new_jsonl_parser() {
  return std::make_unique<JsonlParser>();
}

}  // namespace crowd::scene
