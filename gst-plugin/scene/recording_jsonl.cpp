// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <json-glib/json-glib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scene/recording_parsers.hpp"

namespace crowd::scene {

namespace {

constexpr int deepest = 32;

// A line that does not fit; thrown and caught within this file.
struct Misfit {
  std::string reason;
};

struct JsonObjectLine {
  Box box;
  float score;
  std::optional<std::int32_t> object_class;
  std::string label;
};

// json-glib recurses into what it parses, so a line of opening brackets would exhaust the stack.
bool nested_too_deeply(std::string_view line) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); i++) {
    const char c = line[i];
    if (quoted && c == '\\')
      i++;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      return true;
    else if (!quoted && (c == ']' || c == '}'))
      depth--;
  }
  return false;
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, 120));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

double value_of(JsonNode* node, const std::string& what) {
  const GType type = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    throw Misfit{what + " is not a number"};
  const double value = type == G_TYPE_INT64 ? static_cast<double>(json_node_get_int(node)) : json_node_get_double(node);
  if (!std::isfinite(to_float(value)))
    throw Misfit{what + " is larger than a float can hold"};
  return value;
}

double number_of(JsonObject* object, const char* name) {
  return value_of(json_object_get_member(object, name), std::string("\"") + name + "\"");
}

std::int64_t whole_of(JsonObject* object, const char* name, std::int64_t most) {
  const double value = number_of(object, name);
  if (!(value >= 0 && value <= static_cast<double>(most)) || value != std::floor(value))
    throw Misfit{std::string("\"") + name + "\" is not a whole number from 0 to " + std::to_string(most)};
  return static_cast<std::int64_t>(value);
}

std::string text_of(JsonObject* object, const char* name) {
  JsonNode* node = json_object_get_member(object, name);
  if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING)
    throw Misfit{std::string("\"") + name + "\" is not a string"};
  return json_node_get_string(node);
}

JsonObject* object_of(JsonObject* object, const char* name) {
  JsonNode* node = json_object_get_member(object, name);
  if (!node || !JSON_NODE_HOLDS_OBJECT(node))
    throw Misfit{std::string("\"") + name + "\" is not an object"};
  return json_node_get_object(node);
}

Box corners_of(JsonObject* object) {
  JsonNode* node = json_object_get_member(object, "box");
  JsonArray* array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : nullptr;
  if (!array || json_array_get_length(array) != 4)
    throw Misfit{"\"box\" is not an array of four numbers, [x1, y1, x2, y2]"};
  float corners[4];
  for (guint i = 0; i < 4; i++)
    corners[i] = to_float(value_of(json_array_get_element(array, i), "a corner of \"box\""));
  return {corners[0], corners[1], corners[2], corners[3]};
}

Box extents_of(JsonObject* object) {
  const double x = number_of(object, "x"), y = number_of(object, "y");
  return {to_float(x), to_float(y), to_float(x + number_of(object, "w")), to_float(y + number_of(object, "h"))};
}

// Our own object, or the "detection" of DL Streamer's.
void read_kind(JsonObject* object, const char* score, const char* object_class, JsonObjectLine& result) {
  if (json_object_has_member(object, score))
    result.score = to_float(number_of(object, score));
  if (json_object_has_member(object, object_class))
    result.object_class = static_cast<std::int32_t>(whole_of(object, object_class, highest_class));
  if (json_object_has_member(object, "label"))
    result.label = text_of(object, "label");
}

JsonObjectLine read_object(JsonNode* node) {
  if (!JSON_NODE_HOLDS_OBJECT(node))
    throw Misfit{"a member of \"objects\" is not an object"};
  JsonObject* object = json_node_get_object(node);
  JsonObjectLine result{{}, 1.0f, std::nullopt, {}};
  if (json_object_has_member(object, "box"))
    result.box = corners_of(object);
  else if (json_object_has_member(object, "x"))
    result.box = extents_of(object);
  else
    throw Misfit{R"(an object has neither "box" nor "x", "y", "w", "h")"};
  read_kind(object, "score", "class", result);
  if (json_object_has_member(object, "detection"))
    read_kind(object_of(object, "detection"), "confidence", "label_id", result);
  return result;
}

struct JsonLine {
  std::optional<std::uint64_t> frame;
  std::optional<Size> resolution;
  std::vector<JsonObjectLine> objects;
};

JsonLine read_line(JsonNode* root) {
  if (!root || !JSON_NODE_HOLDS_OBJECT(root))
    throw Misfit{"not a JSON object"};
  JsonObject* object = json_node_get_object(root);
  JsonLine line;
  if (json_object_has_member(object, "frame"))
    line.frame = static_cast<std::uint64_t>(whole_of(object, "frame", highest_frame));
  if (json_object_has_member(object, "resolution")) {
    JsonObject* size = object_of(object, "resolution");
    line.resolution = Size{to_float(number_of(size, "width")), to_float(number_of(size, "height"))};
    if (!(line.resolution->width > 0 && line.resolution->height > 0))
      throw Misfit{"the width or height of \"resolution\" is not above 0"};
  }
  JsonNode* objects = json_object_get_member(object, "objects");
  if (!objects && line.resolution)  // what gvametaconvert add-empty-results=true writes of a frame without objects
    return line;
  if (!objects || !JSON_NODE_HOLDS_ARRAY(objects))
    throw Misfit{"no array \"objects\""};
  JsonArray* array = json_node_get_array(objects);
  for (guint i = 0; i < json_array_get_length(array); i++)
    line.objects.push_back(read_object(json_array_get_element(array, i)));
  return line;
}

class JsonlParser : public LineParser {
 public:
  JsonlParser() : parser_(json_parser_new()) {}
  ~JsonlParser() override {
    g_object_unref(parser_);
  }
  JsonlParser(const JsonlParser&) = delete;
  JsonlParser& operator=(const JsonlParser&) = delete;

  std::optional<std::string> parse(std::string_view text, RecordingBuilder& builder) override {
    const std::uint64_t due = next_frame_++;
    try {
      load(text);
      const JsonLine line = read_line(json_parser_get_root(parser_));
      take(line, line.frame.value_or(due), builder);
      next_frame_ = line.frame.value_or(due) + 1;
    } catch (const Misfit& misfit) {
      return misfit.reason;
    }
    return std::nullopt;
  }

 private:
  void load(std::string_view text) {
    if (nested_too_deeply(text))
      throw Misfit{"nested more than " + std::to_string(deepest) + " levels deep"};
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<gssize>::max()) ||
        text.find('\0') != std::string_view::npos)
      throw Misfit{"not JSON: a zero byte"};
    GError* error = nullptr;
    if (!json_parser_load_from_data(parser_, text.data(), static_cast<gssize>(text.size()), &error)) {
      const std::string message = printable(error->message);
      g_error_free(error);
      throw Misfit{"not JSON: " + message};
    }
  }

  static void take(const JsonLine& line, std::uint64_t frame, RecordingBuilder& builder) {
    if (line.resolution && !builder.agree_on_resolution(*line.resolution))
      throw Misfit{"\"resolution\" differs from the one of an earlier line"};
    std::vector<std::int32_t> classes;
    for (const JsonObjectLine& object : line.objects) {
      if (object.object_class && !object.label.empty())
        builder.name_class(*object.object_class, object.label);
      std::optional<std::int32_t> found = object.object_class;
      if (!found)
        found = object.label.empty() ? 0 : builder.class_named(object.label);
      if (!found)
        throw Misfit{"more than " + std::to_string(highest_class + 1) + " different labels"};
      classes.push_back(*found);
    }
    for (std::size_t i = 0; i < classes.size(); i++)
      builder.add(line.objects[i].box, line.objects[i].score, classes[i]);
    builder.end_line(frame);
  }

  JsonParser* parser_;
  std::uint64_t next_frame_ = 0;
};

}  // namespace

std::unique_ptr<LineParser> new_jsonl_parser() {
  return std::make_unique<JsonlParser>();
}

}  // namespace crowd::scene
