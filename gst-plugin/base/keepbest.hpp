// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is handed on of more candidates than there is room for. Header only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

namespace crowd {

/// Keeps the `capacity` best-scored boxes, of equal ones the first, in the order they had. NaN is the worst score.
template <typename Box>
void keep_best(std::vector<Box>& boxes, std::size_t capacity) {
  if (boxes.size() <= capacity)
    return;
  std::vector<std::size_t> order(boxes.size());
  for (std::size_t i = 0; i < order.size(); i++)
    order[i] = i;
  const auto rank = [&boxes](std::size_t i) {
    const float score = boxes[i].score;
    return std::tuple(std::isnan(score), std::isnan(score) ? 0.F : -score, i);
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(capacity), order.end(),
                   [rank](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  order.resize(capacity);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < capacity; i++)
    boxes[i] = boxes[order[i]];
  boxes.resize(capacity);
}

}  // namespace crowd
