// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace crowd::test {

/// Calls of operator new so far, in the test and in every library it loaded. Needs count_allocations.cpp in the
/// program.
unsigned allocations();

}  // namespace crowd::test
