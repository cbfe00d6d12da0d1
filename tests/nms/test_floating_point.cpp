// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The floating-point modes of the calling thread: they change no answer, and are the same afterwards.

#include <gtest/gtest.h>

#include <cfenv>
#include <memory>
#include <vector>

#include "cases.hpp"
#include "core/floating_point.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace crowd::test {
namespace {

#if defined(__x86_64__)

// Of MXCSR.
constexpr unsigned at_reset = 0x1f80, flags = 0x3f;
constexpr unsigned daz = 0x0040, ftz = 0x8000, down = 0x2000, up = 0x4000, to_zero = 0x6000;
constexpr unsigned invalid_traps = 0x0080, all_trap = 0x1f80;

constexpr unsigned all_modes[] = {
    at_reset,
    at_reset | ftz,
    at_reset | daz,
    at_reset | ftz | daz,
    at_reset | down,
    at_reset | up,
    at_reset | to_zero,
    at_reset | ftz | daz | up,
    at_reset & ~invalid_traps,
    at_reset & ~all_trap,
};

unsigned modes() {
  return _mm_getcsr();
}
void set_modes(unsigned modes) {
  _mm_setcsr(modes);
}

#else

constexpr unsigned at_reset = FE_TONEAREST, flags = 0;
constexpr unsigned all_modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

unsigned modes() {
  return static_cast<unsigned>(std::fegetround());
}
void set_modes(unsigned modes) {
  std::fesetround(static_cast<int>(modes));
}

#endif

struct Seen {
  unsigned inside, after;
};

// Nothing but integers here: no arithmetic that the modes could touch.
Seen visit(unsigned before) {
  set_modes(before);
  Seen seen{};
  {
    const FloatingPointModes aside;
    seen.inside = modes();
  }
  seen.after = modes();
  set_modes(at_reset);
  return seen;
}

TEST(FloatingPointModes, are_set_aside_and_come_back) {
  for (const unsigned before : all_modes) {
    const Seen seen = visit(before);
    EXPECT_EQ(seen.inside & ~flags, at_reset) << std::hex << before;
    EXPECT_EQ(seen.after, before) << std::hex << before;
  }
}

using Session = std::unique_ptr<CrowdNmsSession, void (*)(CrowdNmsSession*)>;

Session session_for(const CrowdNmsParams& params, const Batch& batch) {
  CrowdNmsSession* session = nullptr;
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, batch.frames, batch.capacity, &session), CROWD_NMS_OK)
      << crowd_nms_last_error();
  return {session, crowd_nms_session_free};
}

/// A call that is ready to be made, so that nothing else happens in the modes.
struct Ready {
  CrowdNmsParams params;
  Batch batch;
  Wanted wanted;
  Session session{nullptr, crowd_nms_session_free};  ///< null: a plain call
  Result result = Result::sized(batch, wanted);
  CrowdNmsCandidates candidates = batch.candidates();
  CrowdNmsSurvivors outputs = result.outputs(wanted);
  std::size_t bytes = crowd_nms_cpu_workspace_bytes(&params, batch.frames, batch.capacity);
  std::unique_ptr<void, void (*)(void*)> workspace{std::aligned_alloc(64, (bytes + 63) / 64 * 64), std::free};

  /// The modes after it.
  unsigned run(unsigned before) {
    set_modes(before);
    result.status = session ? crowd_nms_session_run(session.get(), &params, &candidates, &outputs)
                            : crowd_nms_cpu(&params, &candidates, &outputs, workspace.get(), bytes);
    const unsigned after = modes();
    set_modes(at_reset);
    return after;
  }
};

void expect_one_answer(const CrowdNmsParams& params, const Batch& batch) {
  const Wanted wanted = {batch.capacity, true, true};
  const Result expected = run_oracle(params, batch, wanted);
  for (const unsigned before : all_modes) {
    Ready call{.params = params, .batch = batch, .wanted = wanted};
    Ready in_session{.params = params, .batch = batch, .wanted = wanted, .session = session_for(params, batch)};
    for (Ready* it : {&call, &in_session}) {
      EXPECT_EQ(it->run(before), before) << std::hex << before;
      EXPECT_TRUE(same(expected, it->result, batch, wanted))
          << params << (it->session ? " in a session" : "") << " in modes " << std::hex << before;
    }
  }
}

TEST(FloatingPoint, keeps_a_box_of_subnormal_width) {
  Boxes set;
  set.add({0, 0, 1e-40f, 1}, 0.5f);
  set.add({0, 0, 1e-40f, 1}, 0.4f);
  for (const unsigned before : all_modes) {
    Ready call{.params = default_params(), .batch = Batch::of(set), .wanted = {2, true, true}};
    call.run(before);
    EXPECT_EQ(call.result.reports[0], (CrowdNmsReport{2, 0, 0, 0, 1, 0})) << std::hex << before;
  }
}

TEST(FloatingPoint, gives_the_same_bits_in_any_mode) {
  for (const Distribution& from : distributions()) {
    const Batch batch = Batch::of(from.make(120, 77));
    for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CPU)) {
      CrowdNmsParams params = default_params();
      params.method = method;
      params.overlap_threshold = 0.3;
      params.score_threshold = 1e-45f;
      expect_one_answer(params, batch);
      if (HasFailure())
        FAIL() << from.name;
    }
  }
}

TEST(FloatingPoint, is_the_callers_after_a_call_that_is_refused) {
  for (const unsigned before : all_modes) {
    Ready call{.params = default_params(), .batch = Batch::of({}), .wanted = {}};
    call.params.overlap_threshold = 7;
    EXPECT_EQ(call.run(before), before) << std::hex << before;
    EXPECT_EQ(call.result.status, CROWD_NMS_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace crowd::test
