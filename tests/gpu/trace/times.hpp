// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cupti.h>

#include "ledger.hpp"

namespace crowd::trace {

using TakeTime = void(std::string_view kernel, const Span& span);

/// From now on CUPTI tells when each kernel ran on the device, each of a graph's, too. It does that later and in
/// any thread. Once in a process.
CUptiResult record_times(TakeTime* take);

/// Waits until all is told of kernels that are done, if it is to be told.
void flush_times();

}  // namespace crowd::trace
