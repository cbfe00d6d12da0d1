// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tells ThreadSanitizer that cv::parallel_for_() begins before and ends after what its threads do, as glib.cpp does of
// locks. What they do at the same time remains to be seen.

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdlib>
#include <opencv2/core/utility.hpp>

namespace {

class Ordered final : public cv::ParallelLoopBody {
 public:
  explicit Ordered(const cv::ParallelLoopBody& body) : body_(body) {
    __tsan_release(&begun_);
  }
  void operator()(const cv::Range& range) const override {
    __tsan_acquire(&begun_);
    body_(range);
    __tsan_release(&ended_);
  }
  void end() {
    __tsan_acquire(&ended_);
  }

 private:
  const cv::ParallelLoopBody& body_;
  mutable char begun_ = 0, ended_ = 0;
};

}  // namespace

void cv::parallel_for_(const cv::Range& range, const cv::ParallelLoopBody& body, double stripes) {
  using Function = void(const cv::Range&, const cv::ParallelLoopBody&, double);
  static auto* const real =
      reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "_ZN2cv13parallel_for_ERKNS_5RangeERKNS_16ParallelLoopBodyEd"));
  if (!real)
    std::abort();
  Ordered ordered(body);
  real(range, ordered, stripes);
  ordered.end();
}
