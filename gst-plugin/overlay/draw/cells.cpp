// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/cells.hpp"

#include <algorithm>

namespace crowd::draw {

namespace {

constexpr std::ptrdiff_t rows_ahead = 16;

bool joins(const Grid& grid, const Component& component) {
  return grid.stride == component.stride && grid.advance == component.advance && grid.shift_x == component.shift_x &&
         grid.shift_y == component.shift_y && grid.bytes + component.bytes <= grid.advance &&
         (component.data == grid.data + grid.bytes || component.data + component.bytes == grid.data);
}

template <std::size_t size>
void write_ends(std::uint8_t* to, std::ptrdiff_t bytes, const std::uint8_t* values) {
  std::memcpy(to, values, size);
  std::memcpy(to + bytes - size, values, size);
}

template <std::size_t size>
void write_each(std::uint8_t* to, std::ptrdiff_t count, std::ptrdiff_t advance, const std::uint8_t* values) {
  for (; count > 0; count--, to += advance)
    std::memcpy(to, values, size);
}

}  // namespace

Grids::Grids(const Canvas& canvas) {
  for (int i = 0; i < canvas.components; i++) {
    const Component& component = canvas.component[static_cast<std::size_t>(i)];
    // What lies side by side comes one after another, but where glyphs begin to be left out.
    const std::span candidates(grids_.data(), i == canvas.glyph_components ? 0 : count_);
    const auto grid = std::ranges::find_if(candidates, [&](const Grid& it) { return joins(it, component); });
    if (grid == candidates.end()) {
      grids_[count_++] = {component.data,    component.stride, component.advance, component.bytes, component.shift_x,
                          component.shift_y, 1U << i};
      continue;
    }
    grid->data = std::min(grid->data, component.data);
    grid->bytes += component.bytes;
    grid->members |= 1U << i;
  }
}

Ink::Ink(const Canvas& canvas, const Grid& grid, const Paint& paint, int components) {
  for (int i = 0; i < components; i++) {
    if (!(grid.members >> i & 1))
      continue;
    const Component& component = canvas.component[static_cast<std::size_t>(i)];
    const unsigned value = static_cast<unsigned>(paint[static_cast<std::size_t>(i)]) << component.shift;
    for (int k = 0; k < component.bytes; k++)
      values_[static_cast<std::size_t>(component.data - grid.data + k)] = static_cast<std::uint8_t>(value >> 8 * k);
    period_ = grid.bytes;
  }
  for (std::size_t i = static_cast<std::size_t>(period_); period_ && i < values_.size(); i++)
    values_[i] = values_[i - static_cast<std::size_t>(period_)];
}

void Ink::write_run(std::uint8_t* to, std::ptrdiff_t size) const {
  const std::uint8_t* values = values_.data();
  if ((period_ & (period_ - 1)) != 0) {
    for (; size > run_bytes; size -= run_bytes, to += run_bytes)
      std::memcpy(to, values, run_bytes);
    std::memcpy(to, values, static_cast<std::size_t>(size));
    return;
  }
  // Cells whose size is a power of two repeat after 16 bytes, counted from either end.
  if (size >= 16) {
    for (std::ptrdiff_t at = 0; at < size - 16; at += 16)
      std::memcpy(to + at, values, 16);
    std::memcpy(to + size - 16, values, 16);
  } else if (size >= 8) {
    write_ends<8>(to, size, values);
  } else if (size >= 4) {
    write_ends<4>(to, size, values);
  } else if (size >= 2) {
    write_ends<2>(to, size, values);
  } else {
    *to = *values;
  }
}

void Ink::write_cells(std::uint8_t* to, std::ptrdiff_t count, const Grid& grid) const {
  const std::uint8_t* values = values_.data();
  switch (grid.bytes) {
    case 1:
      return write_each<1>(to, count, grid.advance, values);
    case 3:
      return write_each<3>(to, count, grid.advance, values);
    default:
      for (; count > 0; count--, to += grid.advance)
        std::memcpy(to, values, static_cast<std::size_t>(grid.bytes));
  }
}

void Ink::fill(const Grid& grid, const Pixels& rows, std::span<const Pixels> columns) const {
  if (!period_)
    return;
  const bool runs = period_ == grid.advance;
  const int end = ((rows.end - 1) >> grid.shift_y) + 1;
  for (int y = rows.first >> grid.shift_y; y < end; y++)
    for (const Pixels& range : columns) {
      const std::ptrdiff_t first = range.first >> grid.shift_x;
      const std::ptrdiff_t count = ((range.end - 1) >> grid.shift_x) + 1 - first;
      std::uint8_t* const cells = grid.data + y * grid.stride + first * grid.advance;
      // The rows of a narrow fill are as many cache misses: begun early, they overlap.
      if (end - y > rows_ahead)
        __builtin_prefetch(cells + rows_ahead * grid.stride, 1);
      if (runs)
        write_run(cells, count * grid.advance);
      else
        write_cells(cells, count, grid);
    }
}

void Ink::fill_alike(const Grid& grid, const Pixels& rows, std::span<const Pixels> columns) const {
  if (period_ != grid.advance || grid.shift_x != 0 || grid.shift_y != 0)
    return fill(grid, rows, columns);
  fill(grid, {rows.first, rows.first + 1}, columns);
  int first = columns[0].first, end = columns[0].end;
  for (const Pixels& range : columns) {
    first = std::min(first, range.first);
    end = std::max(end, range.end);
  }
  const std::uint8_t* const from = grid.data + rows.first * grid.stride + first * grid.advance;
  const auto size = static_cast<std::size_t>((end - first) * grid.advance);
  for (int y = rows.first + 1; y < rows.end; y++)
    std::memcpy(grid.data + y * grid.stride + first * grid.advance, from, size);
}

}  // namespace crowd::draw
