// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Launch shapes of the CUDA backend. Results never depend on them.
#pragma once

namespace crowd::tuning {

/// Method paper: threads of the kernels that run one block per frame, and the list entries of each at a time.
constexpr unsigned frame_block = 1024;
constexpr unsigned frame_items = 4;

/// Threads of the one-warp-per-candidate kernels.
constexpr unsigned warp_block = 256;

/// The direct path: largest capacity of a frame.
constexpr unsigned direct_capacity = 4096;
/// Full frames of that capacity or more take the stages in calls of so many candidates or more: 16 x 4096 uniform ones
/// 33.5 us, not 48.8 (map-reduce 30.3 and 46.7), in 40 clusters 64, not 428 (38.7 and 77.9), but in 147 clusters 85,
/// not 62 (34.8 and 55.6); 24 x 3000 39.3 and 48.0, 64 and 228, 82 and 58. With half as many 8 x 4096 take 24.9,
/// not 26.3; 52, 235; 57, 34. 64 x 2048 would take 52.4, not 48.6; 85, 100; 96, 60.
constexpr unsigned direct_batched = 3000;
constexpr unsigned direct_max_batch = 1u << 16;
/// Up to this capacity the reduce starts with a map whose tiles have 32 rows at most, else when that has waited: 1027
/// candidates take 5.55 us, not 5.73, map-reduce 3.87, not 4.01; 4096 uniform ones 5.90, not 5.81 (H200, map-reduce).
constexpr unsigned direct_early = 2048;
/// Map-reduce that is asked for survivors alone (direct/one_pass.cuh): largest capacity of a frame where candidates are
/// counted on the device. With 61 or 3000 of 16384 it takes 6.5 us, by map, reduce and stages 11.1; with 16384 uniform
/// ones 27, by stages 21; with 16384 in 40 clusters 23 and 45 (H100).
constexpr unsigned one_pass_capacity = 16384;
/// The same where a frame has as many candidates as its capacity, one frame a call. 8192 uniform ones take 16.0 us, by
/// stages 16.9, in 40 clusters 13.3 and 20.1 (H200); 12288 uniform ones 22.4 and 18.5; four frames of 8400 68 and 24
/// (H100).
constexpr unsigned one_pass_filled = 8704;
/// Most frames of a call of a larger capacity whose small ones take it, where candidates are counted on the device.
/// With 3000 candidates and room for 8400 (H100, by both and by the stages): one frame 15.8 and 26.1 us, two 17.9 and
/// 31.8; map-reduce of four 21.1 and 18.1. A frame that is not small pays 2 to 2.5 us.
constexpr unsigned direct_with_room = 2;
/// In calls of a capacity above direct_early whose candidates are counted on the device: frames of up to so many the
/// reduce takes without the map (direct/tiny_frame.cuh). 61 of 4096 take 5.05 us, not 6.0, map-reduce 4.9, not 5.1; 20
/// of 4096 4.1, not 5.7; 16 frames of 61 11.3, not 15.2.
constexpr unsigned direct_tiny = 64;
/// Up to this capacity one cluster of small_group blocks does both map and reduce (small.cu).
constexpr unsigned small_capacity = 256;
constexpr unsigned small_group = 8;
/// List entries per candidate that the workspace has room for: 56 bytes. A candidate whose list finds no room gets a
/// mask instead. With room for 20 and lists padded to 4 entries that happened to 3 of 4096 crowded candidates of equal
/// score. Lists are padded to 8 now.
constexpr unsigned direct_list_room = 28;
/// Where it matters only whether rows have suppressors, so many queues of pairs are tested before a tile is dense.
/// Else it is dense once its pairs do not fit one queue: masks of 32 rows of 4096 candidates take 22 us, a queue up
/// to 8.
constexpr unsigned direct_queues = 3;
/// Looks of a warp, and rounds of a block that has more pending candidates than threads, after which candidates are
/// decided in rank order. Aliases decide a chain of 4096 within 12 rounds.
constexpr unsigned direct_looks = 20;
constexpr unsigned direct_rounds = 13;
/// Or once a warp has seen so many masks: each takes 0.3 us if all warps look at masks.
constexpr unsigned direct_masks_seen = 128;
/// That is so, too, if every fourth round finds that fewer than one in so many threads with undecided candidates have
/// learned anything.
constexpr unsigned direct_changes = 4;
/// And once a thread has read so many vectors of lists: a round over lists of 64 takes as long as 20 groups in order.
constexpr unsigned direct_vectors = 64;
/// A warp whose turn is to come looks again after so many nanoseconds for each that is before it.
constexpr unsigned direct_sleep = 64;

/// Staged path (staged.cu): max candidates of a frame. Packed words have room for this many, see their static_asserts.
constexpr unsigned staged_capacity = 1u << 20;
/// Threads of a block.
constexpr unsigned staged_block = 256;
/// Height of a cell divided by its width, a power of two. 65536 uniform candidates: 59 us with 2, 62 with 1; 16384:
/// 20.6 and 21.2 (H200, greedy, back to back in a graph; so below).
constexpr unsigned staged_narrow = 2;
/// Places of a window that a lane loads before it tests the first: at 65536 uniform 62 us with 2, 66 with 4.
constexpr unsigned staged_step = 2;
/// A frame of a greedy call is searched for peaks (staged/peaks.cuh) where a candidate overlaps about so many others:
/// 65536 uniform ones on 3840 x 2160 overlap two or three, 16384 in 147 clusters 44. Classes are not asked for.
constexpr unsigned staged_crowd = 16;
/// From this capacity on a frame of a greedy call that is no such crowd is searched for sources (staged/sources.cuh),
/// where a candidate overlaps about so many others: 1048575 candidates in 20000 clusters take 819 us, not 1258, 262144
/// in 5000 209, not 297. Two more launches, and many more samples, are too much for less: with 131072 in 5000 clusters
/// it is 114, not 143, but with uniform ones 81, not 65.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_large = 1024;  // a build of the tests: all of these frames
constexpr unsigned staged_large_crowd = 0;
#else
constexpr unsigned staged_large = 1u << 18;
constexpr unsigned staged_large_crowd = 12;
#endif
/// So many of the sampled pairs have to overlap, besides: with 2 one of eight sets of 65536 uniform candidates was
/// taken for a crowd, and took 83 us, not 51.
constexpr unsigned staged_min_overlaps = 3;
/// In a dense crowd, where a candidate overlaps so many, the best are decided and not only searched for those without a
/// suppressor, and what is left is compared by NearBins: heads of 8400 and 33600 take 26 and 48 us, not 51 and 103,
/// 16384 in 147 clusters 32, not 45. 65536 in 600 clusters, of which more than 4096 are left, would take 92 us, not 83,
/// with room for so many.
/// Map-reduce has peaks in dense crowds alone: heads of 33600 take 36 us, not 72, 16 frames of 8400 in 40 clusters 53,
/// not 95. With those in other crowds, too, 65536 in 600 clusters take 54, not 47.
constexpr unsigned staged_dense_crowd = 64;
/// So many of the sampled pairs have to overlap there: of larger crowds more are left than have room (for 4096).
constexpr unsigned staged_min_dense = 16;
constexpr unsigned staged_min_crowd = 512;  ///< capacity of a frame, at least
/// Candidates of the best scores that peaks are sought among, if that is less than a 16th of the capacity, with room
/// for twice as many. Of 2048, heads of 33600 take 50 us, of 1536 44, of 1280 52 (each with the best samples of scores
/// that we know for these, cuda/LESSONS.md, 30).
constexpr unsigned staged_best = 1536;
/// In calls of so many frames three quarters of that: 16 heads of 8400 take 66 us, not 72; 16 x 8400 in 40 clusters 78,
/// not 80. With half 79 and 105 (likewise).
constexpr unsigned staged_batch = 8;
/// Peaks of a frame, and candidates that may be left, if that is less than a 16th and a quarter of the capacity; 128
/// and 512 at least.
constexpr unsigned staged_peaks = 1024;
constexpr unsigned staged_left = 8192;
/// Looks at others' decisions until one of the best is left undecided, and until one of those that are left of a dense
/// crowd is: about a third of a microsecond each. With 8 of the second, heads of 33600 take 54 us, not 50.
constexpr unsigned staged_best_looks = 12;
constexpr unsigned staged_left_looks = 16;
/// Where more of 4096 that are left are near a candidate it is compared with all of their words, since a lane queues
/// bits one by one: heads of 33600 take 45 us, with 128 65.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_dense_left = 8;  // a build of the tests: most are
#else
constexpr unsigned staged_dense_left = 512;
#endif
/// Peaks of map-reduce, if that is more than a 32nd of the candidates: 16384 in 147 clusters take 25.6 us, with 1024 of
/// them 28.6; 16 heads of 8400, with 256 of each, 89, not 60.
constexpr unsigned staged_best_peaks = 512;
constexpr unsigned staged_near_bins = 64;  ///< of an axis, a power of two
/// Blocks that look for peaks: of a frame at least and at most, a warp for each that has room, and of all frames about.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_min_peak_blocks = 1;  // a build of the tests: few, which all run at a time
constexpr unsigned staged_max_peak_blocks = 3;
#else
constexpr unsigned staged_min_peak_blocks = 16;
constexpr unsigned staged_max_peak_blocks = 2 * staged_best * 32 / staged_block;
#endif
constexpr unsigned staged_peak_blocks = 1024;
/// So many lanes look through a candidate's window, in place of four, if a warp for each took no more than
/// staged_resident_threads a multiprocessor: a lane's loads follow one another. How many run at once depends on
/// registers and on the GPU. With 32 lanes 6000 uniform candidates take 19.7 us, not 17.5, and a head of 8400 68.6, not
/// 70.1 (H100). In larger calls, with 8 in place of four, 33600 candidates of a network's head took 170 us, not 195,
/// but 16384 uniform ones 18.2, not 16.5.
constexpr unsigned staged_many_lanes = 16;
constexpr unsigned staged_resident_threads = 2048;
/// Largest number of places of a window that a candidate's lanes look at. resolve() looks at the rest if it has
/// to. With 512 a crowd of 65536 in 147 spots takes 162 us in place of 104 (map-reduce), 65536 in one spot 109 in place
/// of 130.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_visits = 32;  // a build of the tests: most windows are cut off
#else
constexpr unsigned staged_visits = 1024;
#endif
/// Map-reduce: a warp looks for suppressors of its candidates one after another if that takes no more loads of places
/// than about this, or than a quarter of the frame's candidates. Without a limit 65 536 candidates of a search's worst
/// take 9.9 ms, not 1.9.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_one_by_one = 64;  // a build of the tests: few do
#else
constexpr unsigned staged_one_by_one = 1u << 14;
#endif
/// Places that a warp looks at again, in all, to list its candidates' suppressors anew, and in a window at most, as
/// Walk::cost(); and looks of a warp. After that the block waits for the blocks before it.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_refill = 256;  // a build of the tests: most blocks wait
constexpr unsigned staged_refill_window = 192;
constexpr unsigned staged_looks = 1;
#else
constexpr unsigned staged_refill = 1u << 15;
constexpr unsigned staged_refill_window = 4096;
constexpr unsigned staged_looks = 128;
#endif
/// A bin of scores with more candidates than this, and than a 16th of the frame's, is ranked by binary search among a
/// block's (staged/ranks.cuh).
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned staged_large_bin = 4;  // a build of the tests: many are
#else
constexpr unsigned staged_large_bin = 1024;
#endif
/// A warp of resolve() lists the suppressors of its candidates anew one after another. Where so many lists or more are
/// incomplete a warp has fewer candidates, down to staged_per_warp, as long as all blocks of the call are in flight at
/// staged_resident_blocks a multiprocessor. With 8, not 32, 16384 candidates in 147 clusters take 67 us, not 111
/// (H100).
constexpr unsigned staged_incomplete = 64;
constexpr unsigned staged_resident_blocks = 2;
constexpr unsigned staged_per_warp = 8;
/// A block that waits looks again after so many nanoseconds for each block that is not done yet, up to so many blocks.
constexpr unsigned staged_sleep = 64;
constexpr unsigned staged_sleep_blocks = 32;

/// Soft methods: max candidates of a frame. Ranks of survivors are counted: each block reads the whole frame.
constexpr unsigned soft_capacity = 1u << 16;
/// Threads of their blocks, a warp a candidate.
constexpr unsigned soft_block = 256;
/// Entries of a candidate's list that are held in shared memory until all are counted; longer lists are looked for
/// twice.
constexpr unsigned soft_held = 128;
/// Entries of its list that each lane holds in registers while a candidate is pending; of longer ones none.
constexpr unsigned soft_lane_entries = 4;
/// List entries per candidate that the workspace has room for: as many as make `soft_entries` of the call, within these
/// bounds. 4096 candidates in windows around 147 faces have 40 each, 65536 around 600 faces 160 (soft-gaussian).
constexpr unsigned min_list_room = 64;
constexpr unsigned max_list_room = 256;
constexpr unsigned soft_entries = 1u << 24;
/// settle() gives a frame up where a warp has looked for news, or at 32 entries, min_soft_looks times, and besides, for
/// each candidate of the frame, soft_looks_of_one times if the warp has one candidate, soft_looks_of_several if it has
/// more: after about as long as it takes in turn. A chain of 4096 takes 0.8 ms if it is not given up, in turn 8.
#if defined(CROWD_NMS_IMPATIENT)
constexpr unsigned min_soft_looks = 2;  // a build of the tests: most frames are given up halfway
constexpr float soft_looks_of_one = 0.5f;
#else
constexpr unsigned min_soft_looks = 1024;
constexpr float soft_looks_of_one = 4;
#endif
constexpr float soft_looks_of_several = 0.5f;

/// Box voting likewise: every survivor is compared with all candidates.
constexpr unsigned vote_capacity = 1u << 16;
/// Non-maximum weighted: candidates are compared with all survivors that rank better.
constexpr unsigned nmw_capacity = 1u << 16;
/// Merging: longest list of a survivor's members that its warp sorts. It looks for longer ones among all candidates.
constexpr unsigned merge_list = 512;

/// Fusion: candidates that overlap by this part of the threshold or more are of one component. The less, the larger
/// these are; the more, the more often a fused box may overlap candidates of others. Candidates of the largest
/// component:
///   candidates, IoU                      with 0.5           with 0
///   4096 around 147 faces, 0.3 and 0.55  97 and 70          156
///   4096 around 400 faces, likewise      267 and 204        3705
///   4096 uniform, likewise               90 and 21          4036
///   16384 uniform, 0.3                   15 300             16 384
/// No fused box may overlap others, but for one to three of the last, whose components are fused twice.
constexpr float fusion_united = 0.5f;
/// Fusion: largest component that a warp fuses. Larger ones have a block, which looks for their members in the frame.
constexpr unsigned fusion_list = 512;
/// Most blocks of a frame that fuse components again.
constexpr unsigned fusion_again = 16;

/// Map kernel of the paper: the block shape its authors published.
constexpr unsigned paper_tile = 16;

/// grid.y and grid.z of CUDA.
constexpr unsigned max_grid_y = 65535;

}  // namespace crowd::tuning
