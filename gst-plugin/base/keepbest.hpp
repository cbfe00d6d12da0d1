// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// More candidates than there is room for, on the host; on a device pick.cuh does the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace crowd {

/// Keeps the `capacity` best-scored ones, in the order they had: of equal scores the first, and those without a number
/// for a score last.
template <typename Candidate>
void keep_best(std::vector<Candidate>& candidates, std::size_t capacity) {
  if (candidates.size() <= capacity)
    return;
  std::vector<std::size_t> order(candidates.size());
  for (std::size_t i = 0; i < order.size(); i++)
    order[i] = i;
  const auto better = [&candidates](std::size_t a, std::size_t b) {
    const float of_a = candidates[a].score, of_b = candidates[b].score;
    if (of_a > of_b || of_a < of_b)
      return of_a > of_b;
    const bool a_is_number = of_a == of_a, b_is_number = of_b == of_b;
    return a_is_number == b_is_number ? a < b : a_is_number;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(capacity), order.end(), better);
  order.resize(capacity);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < capacity; i++)
    candidates[i] = candidates[order[i]];
  candidates.resize(capacity);
}

}  // namespace crowd
