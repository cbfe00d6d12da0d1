// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Components of candidates of a class whose boxes overlap by some part, and lists of their members.

#include "kernels/fusion/fusion.cuh"

namespace crowd::ruled {

__global__ void __launch_bounds__(fusion_threads) begin_components(FusionArguments a) {
  pdl_wait();
  const std::uint32_t i = blockIdx.x * fusion_threads + threadIdx.x;
  const std::size_t slot = a.staged.frames.slot(blockIdx.y);
  if (i == 0)
    a.arrays.counters[blockIdx.y] = {0, 0, 0, 0, 0};
  if (i >= a.staged.frames.held(blockIdx.y))
    return;
  a.arrays.parent[slot + i] = i;
  a.arrays.joined[slot + i] = i;
  a.arrays.size[slot + i] = 0;
}

__global__ void __launch_bounds__(fusion_threads) unite(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * fusion_warps + threadIdx.x / warp_size;
  if (place >= f.size() || a.all_meet)
    return;
  const Subject mine = f.stage.subject(place);
  const Walk walk(f.stage, mine.box, mine.label, a.uniting);
  for (std::uint32_t number = 0; number < walk.segments(); ++number) {
    const Segment segment = walk.at(number);
    const std::uint32_t end = min(segment.first + segment.count, place);
    for (std::uint32_t other = segment.first + threadIdx.x % warp_size; other < end; other += warp_size)
      if (f.share(f.box(other), mine.box, mine.area + f.area_of(f.box(other)), a.uniting.min_part) &&
          f.stage.label(f.key(other)) == mine.label)
        unite_two(f.parents(), place, other);
  }
}

__global__ void __launch_bounds__(fusion_threads) count_components(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t rank = blockIdx.x * fusion_threads + threadIdx.x;
  if (rank / warp_size * warp_size >= f.size())
    return;
  const bool here = rank < f.size();
  const std::uint32_t place = f.place_of(here ? rank : 0);
  const std::uint32_t root = see_root(f.parents(), place);
  if (here)
    store_relaxed(f.parents() + place, root);
  const std::uint32_t number = AddOne(a.arrays.size + f.stage.slot, root, here).before();
  if (here)
    a.arrays.number[f.stage.slot + rank] = number;
}

__global__ void __launch_bounds__(fusion_threads) place_components(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * fusion_threads + threadIdx.x;
  if (place / warp_size * warp_size >= f.size())
    return;
  const std::uint32_t size = place < f.size() ? f.component_size(place) : 0;
  const std::uint32_t begin = take_places(f.counters().listed, size);
  if (place < f.size())
    a.arrays.begin[f.stage.slot + place] = begin;
  if (size > tuning::fusion_list)
    a.arrays.large[f.stage.slot + atomicAdd(&f.counters().large, 1u)] = place;
}

__global__ void __launch_bounds__(fusion_threads) list_components(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t rank = blockIdx.x * fusion_threads + threadIdx.x;
  if (rank >= f.size())
    return;
  const std::uint32_t begin = a.arrays.begin[f.stage.slot + f.root(f.place_of(rank))];
  a.arrays.member[f.stage.slot + begin + a.arrays.number[f.stage.slot + rank]] = rank;
}

}  // namespace crowd::ruled
