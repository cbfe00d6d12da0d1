// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/description.hpp"

#include <glib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "tensors/layouts.hpp"
#include "tensors/numbers.hpp"
#include "tensors/textfile.hpp"

namespace crowd::tensors {

namespace {

constexpr std::size_t max_file = 1 << 20;
constexpr std::size_t max_tensors = 64;
constexpr std::size_t max_rank = 8;
constexpr int max_image_side = 16384;

constexpr char header[] = "modelinfo", own_group[] = "crowd";

struct FreeKeys {
  void operator()(GKeyFile* file) const {
    g_key_file_free(file);
  }
};
using KeyFile = std::unique_ptr<GKeyFile, FreeKeys>;

/// What is wrong with a file, to be said once.
struct Refused {
  std::string why;
};

std::vector<std::string> strings_of(char** strings) {
  std::vector<std::string> list;
  for (char** string = strings; string && *string; string++)
    list.push_back(*string);
  g_strfreev(strings);
  return list;
}

class Reader {
 public:
  Reader(const std::string& path, const std::string& text) : path_(path), file_(g_key_file_new()) {
    GError* error = nullptr;
    if (g_key_file_load_from_data(file_.get(), text.data(), text.size(), G_KEY_FILE_NONE, &error))
      return;
    const std::string why = error->message;
    g_error_free(error);
    refuse(shortened(why) + "; a description has groups [NAME] with lines key=value");
  }

  Description read() {
    Description description;
    const std::vector<std::string> groups = strings_of(g_key_file_get_groups(file_.get(), nullptr));
    if (std::ranges::find(groups, header) == groups.end())
      refuse("it has no group [modelinfo]: begin it with [modelinfo], version=1.0 and group-id=");
    read_header(description);
    bool has_input = false;
    for (const std::string& group : groups)
      if (group != header && group != own_group)
        read_tensor(group, description, has_input);
    if (!has_input)
      refuse("no tensor has dir=input: add a group for the network's input");
    if (description.outputs.empty())
      refuse("no tensor has dir=output: add a group for each of the network's outputs");
    if (std::ranges::find(groups, own_group) != groups.end())
      read_own(description);
    return description;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Refused{"the description " + shortened(path_) + ": " + why};
  }

  [[noreturn]] void refuse_value(const std::string& group, const char* key, const std::string& wanted) const {
    refuse(key + ("=" + shortened(value(group, key))) + " in [" + shortened(group) + "] should be " + wanted);
  }

  bool has(const std::string& group, const char* key) const {
    return g_key_file_has_key(file_.get(), group.c_str(), key, nullptr);
  }

  /// As it stands, blanks at both ends aside; empty where there is none.
  std::string value(const std::string& group, const char* key) const {
    char* raw = g_key_file_get_value(file_.get(), group.c_str(), key, nullptr);
    const std::string text(trimmed(raw ? raw : ""));
    g_free(raw);
    return text;
  }

  std::vector<std::string> keys(const std::string& group) const {
    return strings_of(g_key_file_get_keys(file_.get(), group.c_str(), nullptr, nullptr));
  }

  void expect_keys(const std::string& group, std::initializer_list<std::string_view> known) const {
    for (const std::string& key : keys(group)) {
      if (std::ranges::find(known, key) != known.end())
        continue;
      std::string list;
      for (const std::string_view name : known)
        list += (list.empty() ? "" : ", ") + std::string(name);
      refuse("unknown key " + shortened(key) + " in [" + shortened(group) + "]; known are " + list);
    }
  }

  void read_header(Description& description) const {
    expect_keys(header, {"version", "group-id"});
    const std::string version = value(header, "version");
    if (version.empty() || !(version == "1" || version.starts_with("1.")))
      refuse(has(header, "version") ? "version=" + shortened(version) + " in [modelinfo] is not known: only 1.0 is"
                                    : "it has no version= in [modelinfo]: add version=1.0");
    description.group_id = value(header, "group-id");
    if (description.group_id.empty())
      refuse("it has no group-id= in [modelinfo], which names the layout: add group-id= with " + layout_names());
    if (!find_layout(description.group_id))
      refuse_value(header, "group-id", layout_names());
  }

  void read_tensor(const std::string& group, Description& description, bool& has_input) const {
    expect_keys(group, {"id", "type", "dims", "dims-order", "dir", "ranges"});
    TensorInfo tensor;
    tensor.name = group;
    tensor.id = value(group, "id");
    tensor.type = type_of(group);
    tensor.dims = dims_of(group);
    // The bytes lie in the order of dims, whatever GStreamer calls them.
    if (const std::string order = value(group, "dims-order");
        !order.empty() && order != "row-major" && order != "col-major")
      refuse_value(group, "dims-order", "row-major or col-major");
    const std::string direction = value(group, "dir");
    if (direction == "input") {
      if (std::exchange(has_input, true))
        refuse("it has more than one tensor with dir=input: networks with one input are known");
      read_input(group, std::move(tensor), description.input);
    } else if (direction == "output") {
      read_output(group, std::move(tensor), description);
    } else if (has(group, "dir")) {
      refuse_value(group, "dir", "input or output");
    } else {
      refuse("it has no dir= in [" + shortened(group) + "]: add dir=input or dir=output");
    }
  }

  Type type_of(const std::string& group) const {
    const std::string type = value(group, "type");
    if (type == "float32")
      return Type::float32;
    if (type == "float16")
      return Type::float16;
    if (type == "uint8")
      return Type::uint8;
    if (!has(group, "type"))
      refuse("it has no type= in [" + shortened(group) + "]: add type=float32, float16 or uint8");
    refuse_value(group, "type", "float32, float16 or uint8");
  }

  Dims dims_of(const std::string& group) const {
    if (!has(group, "dims"))
      refuse("it has no dims= in [" + shortened(group) + "]: add the tensor's dims, as in dims=-1,3,640,640");
    const auto dims = numbers_of<std::int64_t>(value(group, "dims"));
    const auto good = [](std::int64_t size) { return size == any_size || (size > 0 && size <= G_MAXINT32); };
    if (!dims || dims->size() > max_rank || !std::ranges::all_of(*dims, good))
      refuse_value(group, "dims", "up to 8 whole numbers above 0, or -1 for any, separated by commas");
    return *dims;
  }

  void read_output(const std::string& group, TensorInfo tensor, Description& description) const {
    const Layout& layout = *find_layout(description.group_id);
    if (has(group, "ranges"))
      refuse("ranges= in [" + shortened(group) + "] is of no use: outputs have none. Remove it");
    if (!has_output(layout, tensor.id)) {
      const std::string why = " in [" + shortened(group) + "] should be one of " + output_names(layout);
      refuse("id=" + shortened(tensor.id) + why);
    }
    if (std::ranges::find(description.outputs, tensor.id, &TensorInfo::id) != description.outputs.end())
      refuse("two tensors have id=" + tensor.id + ": give each its own");
    description.outputs.push_back(std::move(tensor));
    if (description.outputs.size() > max_tensors)
      refuse("it has more than " + std::to_string(max_tensors) + " tensors");
  }

  void read_input(const std::string& group, TensorInfo tensor, Input& input) const {
    input.tensor = std::move(tensor);
    const Dims& dims = input.tensor.dims;
    input.planar = dims.size() == 4 && dims[1] == 3;
    if (dims.size() != 4 || (!input.planar && dims[3] != 3))
      refuse_value(group, "dims", "batch,3,height,width or batch,height,width,3 of an input");
    const auto good = [](std::int64_t side) { return side == any_size || (side >= 1 && side <= max_image_side); };
    const std::size_t first_side = input.planar ? 2 : 1;
    if (!good(dims[first_side]) || !good(dims[first_side + 1]))
      refuse_value(group, "dims", "of an input with sides of up to " + std::to_string(max_image_side) + " pixels");
    input.ranges = ranges_of(group);
    if (input.tensor.type == Type::uint8 &&
        std::ranges::any_of(input.ranges, [](ValueRange range) { return range.min != 0 || range.max != 255; }))
      refuse_value(group, "ranges", "0,255 for type=uint8, which holds samples as they are");
  }

  std::array<ValueRange, 3> ranges_of(const std::string& group) const {
    std::array<ValueRange, 3> ranges;
    if (!has(group, "ranges"))
      return ranges;
    const std::string text = value(group, "ranges");
    const auto parts = parts_of(text, ';');
    if (parts.size() != 1 && parts.size() != ranges.size())
      refuse_value(group, "ranges", "MIN,MAX, or three of them separated by semicolons");
    for (std::size_t i = 0; i < ranges.size(); i++) {
      const auto range = numbers_of<float>(parts[parts.size() == 1 ? 0 : i]);
      if (!range || range->size() != 2 || (*range)[0] == (*range)[1])
        refuse_value(group, "ranges", "two numbers MIN,MAX that differ for each channel, separated by semicolons");
      ranges[i] = {(*range)[0], (*range)[1]};
    }
    return ranges;
  }

  void read_own(Description& description) const {
    const Layout& layout = *find_layout(description.group_id);
    for (const std::string& key : keys(own_group)) {
      if (has_parameter(layout, key))
        description.parameters[key] = value(own_group, key.c_str());
      else if (std::ranges::find(input_keys, key) == std::end(input_keys))
        refuse("unknown key " + shortened(key) + " in [crowd]; group-id=" + description.group_id +
               " knows colors, fit, multiple-of, max-side, labels, " + parameter_names(layout));
    }
    Input& input = description.input;
    input.rgb = choice("colors", "rgb", "bgr");
    input.fit = choice("fit", "stretch", "letterbox") ? Fit::stretch : Fit::letterbox;
    input.multiple_of = whole("multiple-of", input.multiple_of, 1024);
    input.max_side = whole("max-side", input.max_side, max_image_side);
    if (input.max_side < input.multiple_of)
      refuse_value(own_group, "max-side", "at least multiple-of, which is " + std::to_string(input.multiple_of));
    if (has(own_group, "labels"))
      description.labels = labels();
  }

  /// Whether it is the first, which it is where there is none.
  bool choice(const char* key, const char* first, const char* second) const {
    const std::string text = value(own_group, key);
    if (has(own_group, key) && text != first && text != second)
      refuse_value(own_group, key, std::string(first) + " or " + second);
    return text != second;
  }

  int whole(const char* key, int otherwise, int max) const {
    if (!has(own_group, key))
      return otherwise;
    const auto number = number_of<int>(value(own_group, key));
    if (!number || *number < 1 || *number > max)
      refuse_value(own_group, key, "a whole number from 1 to " + std::to_string(max));
    return *number;
  }

  /// Relative to the folder of the description.
  std::string labels() const {
    const std::string name = value(own_group, "labels");
    if (name.empty())
      refuse("labels= in [crowd] is empty: name a file, or remove it");
    return (std::filesystem::path(path_).parent_path() / name).string();
  }

  static constexpr std::string_view input_keys[] = {"colors", "fit", "multiple-of", "max-side", "labels"};

  const std::string& path_;
  KeyFile file_;
};

}  // namespace

std::optional<Description> read_description(const std::string& path, std::string& problem) {
  const auto text = read_text(path, "the description", max_file, problem);
  return text ? parse_description(*text, path, problem) : std::nullopt;
}

std::optional<Description> parse_description(const std::string& text, const std::string& path, std::string& problem) {
  try {
    return Reader(path, text).read();
  } catch (const Refused& refused) {
    problem = refused.why;
    return std::nullopt;
  }
}

std::optional<std::vector<std::string>> read_labels(const std::string& path, std::string& problem) {
  constexpr std::size_t max_labels = 65536, max_bytes = 256;
  const auto text = read_text(path, "the labels file", max_labels * (max_bytes + 2), problem);
  if (!text)
    return std::nullopt;
  std::vector<std::string> labels;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    const bool too_long = line.size() > max_bytes;
    if (too_long || labels.size() == max_labels) {
      problem = "the labels file " + shortened(path) +
                (too_long ? ": line " + std::to_string(labels.size() + 1) + " has more than 256 bytes"
                          : " has more than 65536 lines") +
                ": one name of a class on each line is wanted";
      return std::nullopt;
    }
    labels.emplace_back(line);
  }
  if (labels.empty()) {
    problem = "the labels file " + shortened(path) + " is empty: one name of a class on each line is wanted";
    return std::nullopt;
  }
  return labels;
}

}  // namespace crowd::tensors
