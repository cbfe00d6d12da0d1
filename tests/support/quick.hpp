// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How thorough tests of the CPU backend are.
#pragma once

#include <cstdlib>
#include <cstring>

namespace crowd::test {

/// Whether a part of the cases does. Sanitizers look at memory, which some of the frames use as all of them do, and are
/// slow. CROWD_NMS_TEST=quick is for the same code by another compiler.
inline bool is_quick() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#else
  static const char* const wanted = std::getenv("CROWD_NMS_TEST");
  return wanted && !std::strcmp(wanted, "quick");
#endif
}

}  // namespace crowd::test
