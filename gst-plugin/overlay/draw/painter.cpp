// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/painter.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "overlay/draw/painter_job.hpp"

namespace crowd::draw {

namespace {

std::uint32_t word_of(const Paint& paint) {
  return paint[0] | paint[1] << 8 | paint[2] << 16 | static_cast<std::uint32_t>(paint[3]) << 24;
}

void set_palette(const ColourSpace& space, const Style& style, PaintJob& job) {
  const auto set = [&](std::size_t index, std::uint32_t argb) {
    job.palette[index] = word_of(encode(argb & 0xffffff, space));
  };
  for (std::size_t i = 0; i < class_color_count; i++)
    set(i, class_colors[i]);
  set(fixed_color, style.color);
  set(fixed_candidate_color, style.candidate_color);
  set(black, 0x000000);
  set(white, 0xffffff);
}

std::uint64_t word_of(const Glyph& glyph) {
  std::uint64_t word = 0;
  for (std::size_t row = 0; row < glyph.size(); row++)
    word |= static_cast<std::uint64_t>(glyph[row]) << glyph_width * row;
  return word;
}

bool is_full(const Component& component) {
  return component.shift_x == 0 && component.shift_y == 0;
}

// False if there are components that the kernel cannot paint.
bool sort_components(const Canvas& canvas, PaintJob& job) {
  const std::span all(canvas.component.data(), static_cast<std::size_t>(canvas.components));
  if (std::ranges::any_of(all, [](const Component& component) { return component.bytes != 1; }))
    return false;
  const bool all_take_glyphs = canvas.glyph_components == canvas.components;
  job.components = canvas.components;
  job.full_components = all_take_glyphs ? canvas.components : canvas.glyph_components;
  const std::span rest = all.subspan(static_cast<std::size_t>(job.full_components));
  if (!std::ranges::all_of(all.first(static_cast<std::size_t>(job.full_components)), is_full))
    return false;
  job.rest_rows = rest.empty() ? 0 : 2 - (rest[0].shift_y ? 1 : 0);
  job.rest_pairs = !rest.empty() && rest[0].shift_x;
  for (std::size_t i = 0; i < all.size(); i++)
    job.component[i] = {all[i].data, all[i].stride, all[i].advance};
  return std::ranges::all_of(rest, [&rest](const Component& component) {
    return component.shift_x == rest[0].shift_x && component.shift_y == rest[0].shift_y && component.shift_x <= 1 &&
           component.shift_y <= 1;
  });
}

// Pixels of four bytes that are aligned are written at once.
void use_whole_words(const Canvas& canvas, PaintJob& job) {
  if (job.full_components != 4)
    return;
  const auto& all = canvas.component;
  std::uint8_t* base = std::ranges::min_element(all, {}, &Component::data)->data;
  const auto fits = [&](const Component& component) {
    return component.advance == 4 && component.stride == all[0].stride && component.data - base < 4;
  };
  if (reinterpret_cast<std::uintptr_t>(base) % 4 != 0 || all[0].stride % 4 != 0 || !std::ranges::all_of(all, fits))
    return;
  job.whole_words = true;
  job.component[0].data = base;
  for (std::uint32_t& color : job.palette) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < all.size(); i++)
      word |= (color >> 8 * i & 0xff) << 8 * (all[i].data - base);
    color = word;
  }
}

BoxLayer layer_of(const DeviceBoxes& boxes, int thickness, std::uint32_t argb, std::uint32_t fixed) {
  return {boxes, thickness, argb >> 24 == 0, fixed};
}

void set_ink(const Style& style, PaintJob& job) {
  for (std::size_t i = 0; i < color_count; i++) {
    const std::uint32_t rgb = i < class_color_count ? class_colors[i]
                              : i == fixed_color    ? style.color & 0xffffff
                              : i == white          ? 0xffffff
                                                    : 0;
    job.ink_black |= readable_on(rgb) == 0 ? 1U << i : 0U;
  }
}

std::vector<std::uint64_t> all_glyphs() {
  std::vector<std::uint64_t> words;
  for (int i = 0; i < glyph_count(); i++)
    words.push_back(word_of(glyphs()[i]));
  return words;
}

/** Where the parts of LabelMemory begin, in bytes. */
struct LabelLayout {
  std::size_t glyphs, codes;

  explicit LabelLayout(std::size_t labels)
      : glyphs(labels * sizeof(LabelEntry)),
        codes(glyphs + static_cast<std::size_t>(glyph_count()) * sizeof(std::uint64_t)) {}
};
static_assert(sizeof(LabelEntry) % alignof(std::uint64_t) == 0);

std::vector<std::byte> table_of(std::span<const char* const> labels) {
  std::vector<LabelEntry> entries;
  std::vector<std::uint16_t> codes;
  for (const char* label : labels) {
    const std::size_t first = codes.size();
    for_each_character(label ? label : "", [&codes](char32_t character) {
      codes.push_back(static_cast<std::uint16_t>(glyph_index(character)));
    });
    entries.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint16_t>(codes.size() - first),
                       static_cast<std::uint16_t>(label_color_index(label))});
  }
  const LabelLayout layout(labels.size());
  std::vector<std::byte> table(layout.codes + codes.size() * sizeof(std::uint16_t));
  const auto put = [&table](const auto& all, std::size_t at) {
    std::ranges::copy(std::as_bytes(std::span(all)), table.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(entries, 0);
  put(all_glyphs(), layout.glyphs);
  put(codes, layout.codes);
  return table;
}

}  // namespace

bool DevicePainter::has_labels(std::span<const char* const> labels) const {
  if (labels.size() != labels_.count)
    return false;
  std::size_t at = 0;
  for (const char* label : labels) {
    const char* name = label ? label : "";
    if (std::strcmp(names_.c_str() + at, name) != 0)
      return false;
    at += std::strlen(name) + 1;
  }
  return true;
}

DeviceReport DevicePainter::set_labels(std::span<const char* const> labels) {
  if (has_labels(labels))
    return {};
  labels_ = {};
  names_.clear();
  if (labels.empty())
    return {};
  const std::vector<std::byte> table = table_of(labels);
  std::string names;
  for (const char* label : labels)
    names.append(label ? label : "").push_back('\0');
  DeviceReport report;
  PainterMemory memory = upload(table.data(), table.size(), report);
  if (!memory)
    return report;
  names_ = std::move(names);
  labels_ = {std::move(memory), static_cast<std::uint32_t>(labels.size())};
  return {};
}

DeviceReport DevicePainter::make_room(const PaintJob& job, CUstream_st* stream) {
  const bool labels = job.survivors.boxes.count && (job.parts.labels || job.parts.scores || job.parts.counts);
  if ((!labels && !job.with_summary) || (texts_ && stream == stream_))
    return {};
  // Freeing waits for what is painted with it on another stream.
  texts_.reset();
  DeviceReport report;
  texts_ = allocate(max_texts * sizeof(Text), report);
  stream_ = stream;
  return report;
}

DeviceReport DevicePainter::paint(const Canvas& canvas, const Style& style, const DeviceBoxes& candidates,
                                  const DeviceBoxes& survivors, const DeviceSummary& summary, CUstream_st* stream) {
  if (canvas.width <= 0 || canvas.height <= 0 || (!candidates.count && !survivors.count && !style.summary))
    return {};
  PaintJob job{};
  job.width = canvas.width;
  job.height = canvas.height;
  if (!sort_components(canvas, job))
    return {DeviceOutcome::dropped,
            "the GPU does not paint frames whose components have more than 8 bits or are subsampled in this way"};
  set_palette(canvas.colours, style, job);
  set_ink(style, job);
  use_whole_words(canvas, job);
  std::transform(glyphs(), glyphs() + ascii_glyph_count, job.ascii, [](const Glyph& glyph) { return word_of(glyph); });
  job.candidates = layer_of(candidates, style.candidate_thickness, style.candidate_color, fixed_candidate_color);
  job.survivors =
      layer_of(survivors, automatic(style.thickness, canvas.height, outline_part), style.color, fixed_color);
  job.summary = summary;
  job.with_summary = style.summary;
  job.parts = {style.labels, style.scores, style.counts};
  job.scale = automatic(style.font_scale, canvas.height, text_part);
  set_labels_of(job);
  if (DeviceReport report = make_room(job, stream); report.outcome != DeviceOutcome::done)
    return report;
  job.texts = reinterpret_cast<Text*>(texts_.get());
  return launch_painter(job, stream);
}

void DevicePainter::set_labels_of(PaintJob& job) const {
  if (!labels_.count)
    return;
  const std::byte* memory = labels_.memory.get();
  const LabelLayout layout(labels_.count);
  job.labels = reinterpret_cast<const LabelEntry*>(memory);
  job.label_count = labels_.count;
  job.glyphs = reinterpret_cast<const std::uint64_t*>(memory + layout.glyphs);
  job.label_codes = reinterpret_cast<const std::uint16_t*>(memory + layout.codes);
}

void DevicePainter::release() {
  labels_ = {};
  names_.clear();
  texts_.reset();
}

}  // namespace crowd::draw
