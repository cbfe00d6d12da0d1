// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is behind a CrowdNmsSession.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "crowd/nms.h"

namespace crowd {

class Session {
 public:
  virtual ~Session() = default;
  /// Arguments have passed check_call() and fit the session, which has the method. Within FloatingPointModes.
  virtual CrowdNmsStatus run(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                             const CrowdNmsSurvivors& survivors) noexcept = 0;
};

/// Enough for every method that a session made with these params, which may be null, can be asked for.
std::size_t session_bytes(CrowdNmsBackend backend, const CrowdNmsParams* params, std::uint32_t frames,
                          std::uint32_t capacity);

/// The CUDA one, in the current context. `params` may be null.
CrowdNmsStatus make_device_session(const CrowdNmsParams* params, std::uint32_t frames, std::uint32_t capacity,
                                   std::unique_ptr<Session>& session) noexcept;

}  // namespace crowd
