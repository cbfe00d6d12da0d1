// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <shared_mutex>
#include <unordered_map>

#include "callers.hpp"

namespace crowd::trace {

/// Finds the caller. Safe to be used from all threads.
class Stack {
 public:
  Stack();

  /// The place on the stack of this thread that caller_of() chooses, or one without a caller. Lives as long as this
  /// does.
  const Place& caller();

 private:
  const Place* place_of(const void* address);

  std::shared_mutex mutex_;
  std::unordered_map<const void*, Place> places_;
  const Place unknown_{{}, "?"};
};

}  // namespace crowd::trace
