// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Descriptions of networks: an input is the text of one. A network that is as described is decoded, whatever its
// outputs hold; all else is refused with a message.

#include <glib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "input.hpp"
#include "tensors/decoder.hpp"
#include "tensors/description.hpp"
#include "tensors/layouts.hpp"

namespace {

using namespace crowd::tensors;
using crowd::fuzz::Exact;
using crowd::fuzz::require;

constexpr std::int64_t most_elements = 1 << 16;
constexpr unsigned batch = 2;

void check(const Description& description) {
  require(find_layout(description.group_id), "the layout is known");
  require(!description.outputs.empty() && description.input.tensor.dims.size() == 4, "there are an input and outputs");
  require(description.input.width() >= 0 && description.input.width() <= 16384, "an input has a size or takes any");
  require(description.input.multiple_of >= 1 && description.input.max_side >= description.input.multiple_of,
          "sides have limits");
  for (const ValueRange& range : description.input.ranges)
    require(range.min - range.min == 0 && range.max - range.max == 0 && range.min != range.max, "ranges are finite");
}

/// Outputs as described, sizes that are left open being those that most layouts have in common.
std::vector<TensorInfo> outputs_of(const Description& description) {
  std::vector<TensorInfo> outputs = description.outputs;
  for (TensorInfo& output : outputs) {
    std::ranges::replace(output.dims, any_size, 12);
    output.dims[0] = any_size;
  }
  return outputs;
}

void decode(const Decoder& decoder, const std::vector<TensorInfo>& outputs, std::uint8_t byte) {
  std::vector<Exact<std::uint8_t>> memories;
  std::vector<Tensor> tensors;
  for (const TensorInfo& info : outputs) {
    Dims dims = info.dims;
    dims[0] = batch;
    std::int64_t elements = 1;
    for (const std::int64_t size : dims) {
      if (size > most_elements / elements)
        return;
      elements *= size;
    }
    memories.emplace_back(static_cast<std::size_t>(elements) * bytes_of(info.type));
    std::memset(memories.back().data(), byte, memories.back().size());
    tensors.push_back({info.type, dims, memories.back().data()});
  }
  std::vector<RawBox> boxes;
  std::string problem;
  const InputPlacement placements[batch] = {};
  DecodeSettings settings;
  settings.score_threshold = -std::numeric_limits<float>::infinity();
  require(decoder.decode(tensors, placements, settings, boxes, problem), "what was announced is decoded");
  require(boxes.size() == batch * decoder.places(), "there is a candidate at each place");
  for (const RawBox& box : boxes)
    require(box.class_id < decoder.classes(), "classes are those of the network");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  // read_description() refuses others.
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr))
    return 0;
  std::string problem;
  const auto description = parse_description(text, "/folder/file", problem);
  require(description.has_value() == problem.empty(), "a refusal has a message");
  require(g_utf8_validate(problem.data(), static_cast<gssize>(problem.size()), nullptr), "messages are UTF-8");
  if (!description)
    return 0;
  check(*description);
  const std::vector<TensorInfo> outputs = outputs_of(*description);
  const int width = description->input.width(), height = description->input.height();
  const auto decoder = Decoder::make(*description, outputs, width ? width : 48, height ? height : 48, problem);
  require((decoder != nullptr) == problem.empty(), "a refusal has a message");
  if (decoder)
    for (const std::uint8_t byte : {0, 0x3c, 0xff})
      decode(*decoder, outputs, byte);
  return 0;
}
