// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a block of resolve() that waits compares its candidates whose lists are incomplete with the survivors of the
// blocks before it, which may be most of the frame. Candidates get slots, those that are alike next to each other; 32
// slots are a group. A warp takes 32 survivors and a group: it leaves out the survivors that overlap none of the group,
// and compares each other one with all of it, a candidate a lane.
#pragma once

#include "kernels/hull.cuh"
#include "kernels/staged/pending.cuh"

namespace crowd::CROWD_STAGED {

/// Of a block.
struct Candidates {
  float4 box[threads];
  std::int32_t label[threads];
  std::uint32_t key[threads];  ///< rank keys without scores, stripped()

  __device__ void put(std::uint32_t at, const Subject& subject) {
    box[at] = subject.box;
    label[at] = subject.label;
    key[at] = static_cast<std::uint32_t>(subject.key);
  }
  __device__ Subject get(std::uint32_t at, float offset) const {
    return {box[at], area(as_box(box[at]), offset), label[at], key[at]};
  }
};

struct Survivor {
  float4 box;
  std::int32_t label;
  std::uint32_t place;
};

/// Those that a block compares at a time. With room for 256, and with whole keys of candidates, resolve() takes 20 KB
/// of shared memory, and 16384 uniform candidates 17.6 us, not 17.4 (map-reduce, where no block waits).
struct Survivors {
  static constexpr unsigned room = threads / 2;

  float4 box[room];
  float area[room];
  std::int32_t label[room];
  std::uint32_t place[room];

  __device__ void put(std::uint32_t at, const Survivor& survivor, float offset) {
    box[at] = survivor.box;
    area[at] = crowd::area(as_box(survivor.box), offset);
    label[at] = survivor.label;
    place[at] = survivor.place;
  }
};

/// The bits of a class that groups know.
__device__ inline std::uint32_t class_bits(std::int32_t label) {
  return static_cast<std::uint32_t>(label) & 0xff;
}

/// Bounds of a group's candidates.
struct GroupBounds {
  Hull hull;
  std::uint32_t min_class, max_class;  ///< class_bits()

  __device__ bool may_be_suppressed_by(const float4& box, std::int32_t label, const PairRule& rule) const {
    return class_bits(label) >= min_class && class_bits(label) <= max_class && may_overlap(box, hull, rule);
  }
};

struct WaitingShared {
  Candidates candidates;  ///< by slot; in find_in_block() by thread
  union {
    Survivors survivors;
    std::uint32_t likeness[threads];  ///< until slots are known
  };
  GroupBounds groups[warps];  ///< of all that they were ever for
  // Bits of the slots of a group.
  std::uint32_t open[warps];  ///< undecided
  std::uint32_t hit[warps];   ///< suppressed by a survivor
};

struct Slots {
  std::uint32_t mine;   ///< the thread's; of no meaning if its candidate has no slot
  std::uint32_t count;  ///< of the block

  __device__ std::uint32_t groups() const {
    return ceil_div(count, warp_size);
  }
};

/// Numbers of candidates that are alike are near each other: by class, then by the octave of the size, then by x. Those
/// that do not wait have larger ones. The thread's number is in the last bits, so that all differ.
__device__ inline std::uint32_t likeness(const Subject& mine, bool by_class, bool waits) {
  static_assert(threads <= 1 << 8, "a thread's number has 8 bits");
  const std::uint32_t octave = __float_as_uint(mine.area) >> 24 & 0x7f;
  const std::uint32_t shape = octave << 16 | number_key(Grid::centre(mine.box.x, mine.box.z)) >> 16;
  const std::uint32_t number = by_class ? class_bits(mine.label) << 15 | shape >> 8 : shape;
  return static_cast<std::uint32_t>(!waits) << 31 | number << 8 | threadIdx.x;
}

/// Gives slots to candidates that wait, and measures their groups. For a whole block.
__device__ inline Slots take_slots(const Stage& stage, WaitingShared& shared, const Subject& mine, bool waits) {
  const std::uint32_t own = likeness(mine, stage.a.rule.by_class, waits);
  shared.likeness[threadIdx.x] = own;
  const auto count = static_cast<std::uint32_t>(__syncthreads_count(waits));
  std::uint32_t slot = 0;
  for (unsigned other = 0; other < threads; other += 4) {
    const uint4 its = *reinterpret_cast<const uint4*>(&shared.likeness[other]);
    slot += static_cast<std::uint32_t>(its.x < own) + static_cast<std::uint32_t>(its.y < own) +
            static_cast<std::uint32_t>(its.z < own) + static_cast<std::uint32_t>(its.w < own);
  }
  if (waits)
    shared.candidates.put(slot, mine);
  __syncthreads();
  const bool here = threadIdx.x < count;
  const float4 box = here ? shared.candidates.box[threadIdx.x] : float4{};
  const std::uint32_t bits = here ? class_bits(shared.candidates.label[threadIdx.x]) : 0;
  const GroupBounds group = {hull_of_lanes(box, here, stage.a.rule.overlap.offset), warp_min(here ? bits : ~0u),
                             warp_max(bits)};
  if (threadIdx.x % warp_size == 0)
    shared.groups[threadIdx.x / warp_size] = group;
  return {slot, count};
}

__device__ inline Survivor survivor_at(const Stage& stage, std::uint32_t at, std::uint32_t end) {
  Survivor survivor{};
  if (at < end) {
    survivor.place = load_relaxed(stage.a.arrays.ranked + stage.slot + at);
    survivor.box = stage.a.arrays.box[stage.slot + survivor.place];
    survivor.label = stage.a.rule.by_class ? stage.label(stage.a.arrays.key[stage.slot + survivor.place]) : 0;
  }
  return survivor;
}

/// Whether one of 32 survivors from `first` on, of those `near`, suppresses the lane's candidate. For a whole warp.
__device__ inline bool is_hit(const Stage& stage, const Survivors& survivors, std::uint32_t first, unsigned near,
                              const Subject& its, bool open) {
  bool hit = false;
  while (near) {
    // So many are compared before the first result is needed. What is beyond the last is that one again.
    std::uint32_t at[4];
    unsigned met = 0;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      at[k] = near ? first + static_cast<unsigned>(__ffs(static_cast<int>(near))) - 1 : at[k ? k - 1 : 0];
      near &= near - 1;
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      met |= (static_cast<unsigned>(survivors.label[at[k]] == its.label) &
              static_cast<unsigned>(stage.better_may_suppress(survivors.box[at[k]], survivors.area[at[k]], its)))
             << k;
    static_assert(Survivors::room <= 1 << 8, "numbers of survivors have 8 bits");
    const std::uint32_t all = at[0] | at[1] << 8 | at[2] << 16 | at[3] << 24;
    for (met = open && !hit ? met : 0; met && !hit; met &= met - 1) {
      const std::uint32_t it = all >> (static_cast<unsigned>(__ffs(static_cast<int>(met))) - 1) * 8 & 255;
      hit = stage.suppresses(stage.a.arrays.key[stage.slot + survivors.place[it]], survivors.box[it], its);
    }
  }
  return hit;
}

/// Compares groups with `count` survivors, 32 at a time. For a whole block.
__device__ inline void compare(const Stage& stage, WaitingShared& shared, std::uint32_t groups, std::uint32_t count) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t parts = ceil_div(count, warp_size);
  for (std::uint32_t turn = threadIdx.x / warp_size; turn < parts * groups; turn += warps) {
    const std::uint32_t group = turn / parts;
    const std::uint32_t first = (turn - group * parts) * warp_size;
    const unsigned open = shared.open[group];
    const bool near = first + lane < count &&
                      shared.groups[group].may_be_suppressed_by(shared.survivors.box[first + lane],
                                                                shared.survivors.label[first + lane], stage.a.rule);
    const unsigned all_near = __ballot_sync(all_lanes, near);
    if (!open || !all_near)
      continue;
    const Subject its = shared.candidates.get(group * warp_size + lane, stage.a.rule.overlap.offset);
    const bool hit = is_hit(stage, shared.survivors, first, all_near, its, open >> lane & 1);
    const unsigned hits = __ballot_sync(all_lanes, hit);
    if (hits && lane == 0)
      atomicOr(&shared.hit[group], hits);
  }
}

/// Suppresses candidates with slots that one of the survivors `first` to `end` - 1 suppresses. For a whole block.
__device__ inline void try_survivors(const Stage& stage, const Subject& mine, Pending& pending, WaitingShared& shared,
                                     const Slots& slots, std::uint32_t first, std::uint32_t end) {
  const bool waits = pending.is_undecided() && pending.more;
  if (first >= end || !__syncthreads_or(waits))
    return;
  const bool loads = threadIdx.x < Survivors::room;
  Survivor next = survivor_at(stage, first + threadIdx.x, loads ? end : 0);
  if (threadIdx.x < warps)
    shared.open[threadIdx.x] = shared.hit[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t group = slots.mine / warp_size;
  const unsigned bit = 1u << slots.mine % warp_size;
  if (waits) {
    shared.candidates.put(slots.mine, mine);
    atomicOr(&shared.open[group], bit);
  }
  for (std::uint32_t base = first; base < end; base += Survivors::room) {
    if (loads)
      shared.survivors.put(threadIdx.x, next, stage.a.rule.overlap.offset);
    if (!__syncthreads_or(waits && pending.is_undecided()))
      return;
    next = survivor_at(stage, base + Survivors::room + threadIdx.x, loads ? end : 0);
    compare(stage, shared, slots.groups(), min(end - base, Survivors::room));
    __syncthreads();
    if (threadIdx.x < warps)
      shared.open[threadIdx.x] &= ~shared.hit[threadIdx.x];
    if (waits && pending.is_undecided() && shared.hit[group] & bit) {
      pending.decision = Decision::suppressed();
      stage.decide(pending.place, pending.decision);
    }
  }
}

}  // namespace crowd::CROWD_STAGED
