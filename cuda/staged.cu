// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of the staged path.

#include "staged.cuh"

namespace crowd {

namespace staged {

namespace {

using Kernel = void (*)(Arguments);

/// Whether a kernel can start while the one before it ends.
bool overlaps_launches() {
  int device = 0;
  int major = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return major >= 9;
}

// With IoU > t, inter > t / (1 + t) * (sum of areas), but for the rounding of either side.
float least_part(const OverlapRule& rule) {
  if (rule.metric != CROWD_NMS_IOU || rule.threshold < tiny_area)
    return 0;
  return rule.threshold / (1 + rule.threshold) * (1 - 4 * guard);
}

class Launcher {
 public:
  explicit Launcher(const Call& call) : call_(call), overlap_(overlaps_launches()) {}

  // An error stays pending for crowd_nms_cuda() to take.
  void operator()(Kernel kernel, std::uint32_t blocks, const Arguments& arguments, std::size_t shared = 0) const {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = call_.grid(blocks);
    config.blockDim = {threads, 1, 1};
    config.dynamicSmemBytes = shared;
    config.stream = call_.stream;
    config.attrs = &overlap;
    config.numAttrs = overlap_;
    (void)cudaLaunchKernelEx(&config, kernel, arguments);
  }

 private:
  const Call& call_;
  bool overlap_;
};

}  // namespace

}  // namespace staged

std::size_t staged_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment) {
  Carver carver(nullptr, alignment);
  staged::take_arrays(carver, frames, capacity);
  return carver.bytes();
}

void launch_staged(const Call& call, Carver carver) {
  const std::uint32_t capacity = call.frames.capacity;
  const staged::Shape shape = staged::make_shape(capacity);
  const staged::Arguments arguments{call.frames,
                                    shape,
                                    staged::take_arrays(carver, call.frame_count, capacity),
                                    pair_rule(call.rule(), call.by_class()),
                                    staged::least_part(call.rule()),
                                    call.params.score_threshold,
                                    call.out};
  const staged::Launcher launch(call);
  launch(staged::clear, ceil_div(shape.words / 4, staged::threads), arguments);
  launch(staged::count, shape.blocks, arguments, shape.chunks * sizeof(std::uint32_t));
  launch(staged::scan, shape.chunks, arguments);
  launch(staged::scatter, shape.blocks, arguments);
  launch(call.params.method == CROWD_NMS_GREEDY ? staged::find_rivals : staged::find_dominated,
         shape.home_blocks + shape.blocks, arguments);
  launch(staged::resolve, shape.blocks, arguments);
  if (call.out.stand_ins || call.out.members)
    launch(staged::find_stand_ins, shape.home_blocks, arguments);
  if (call.out.members && call.out.max_survivors)
    launch(staged::write_members, shape.blocks, arguments);
}

}  // namespace crowd
