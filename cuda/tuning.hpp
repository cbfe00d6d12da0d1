// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Launch shapes of the CUDA backend. Results never depend on them. CROWD_NMS_PATH=stages in the environment sends every
// frame of greedy and map-reduce down the staged path, whatever its size: an aid for tests.
#pragma once

namespace crowd::tuning {

/// Threads of the kernels that run one block per frame, and the list entries of each at a time.
constexpr unsigned frame_block = 1024;
constexpr unsigned frame_items = 4;

/// Candidates settled at once by the one-block kernel; one bit each in a 64-bit mask.
constexpr unsigned settle_chunk = 64;

/// Threads of the one-warp-per-candidate kernels.
constexpr unsigned warp_block = 256;

/// Fused kernel (fused.cu): threads of a block.
constexpr unsigned fused_block = 512;
/// Most candidates of a frame: all of them may have to lie in every block's shared memory, 33 bytes each.
constexpr unsigned fused_capacity = 6144;
/// Words of hits that a block keeps from its first pass to its second, else it tests the pairs again.
constexpr unsigned fused_hit_words = 2048;
/// Most blocks of a frame.
constexpr unsigned fused_group_max = 128;
/// Frames of up to this capacity are left to a thread-block cluster of fused_small_group; above it a frame gets the
/// whole chip, a frame of a batch a cluster of fused_cluster. At 600 crowded candidates a cluster of 16 took 24 us, the
/// chip 19; at 1000 45 and 21; at 2000 78 and 33 (H200, greedy, back to back in a graph).
constexpr unsigned fused_small_capacity = 256;
constexpr unsigned fused_small_group = 8;
constexpr unsigned fused_cluster = 16;
/// A tile with this many times its fair share makes the blocks share out by index instead.
constexpr unsigned fused_crowding = 8;
/// Rounds over the edges before classic greedy takes over.
constexpr unsigned fused_rounds = 24;
static_assert(fused_rounds % 2 == 0, "who survives in an odd round suppresses in the next, before greedy takes over");

/// Staged path (staged.cu): threads of a block.
constexpr unsigned staged_block = 256;
/// Cells are this much narrower than high, a power of two: at 65536 uniform candidates 2 took 59 us where 1 took 62, at
/// 16384 20.6 and 21.2 (H200, greedy, back to back in a graph; so below).
constexpr unsigned staged_narrow = 2;
/// Places of a window that a lane loads before it tests the first: at 65536 uniform 62 us with 2, 66 with 4.
constexpr unsigned staged_step = 2;
/// Most places of a window that a candidate's few lanes look at. The rest comes up while it waits, if at all. With 512
/// a crowd of 65536 in 147 spots takes 162 us in place of 104 (map-reduce), 65536 in one spot 109 in place of 130.
constexpr unsigned staged_visits = 1024;
/// Most places of a window for a warp to look through again. Whoever has more waits for all better-ranked blocks.
constexpr unsigned staged_refill = 4096;

/// Map kernel of the paper: the block shape its authors published.
constexpr unsigned paper_tile = 16;

/// grid.y and grid.z of CUDA.
constexpr unsigned max_grid_y = 65535;

}  // namespace crowd::tuning
