// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rules, settings of classes and limits of size for cases, with the arrays that they read.
#pragma once

#include "cases.hpp"

namespace crowd::test {

/// For two cases in three, drawn from the dice; the others stay as they are.
void draw_rule(Case& it, Dice& dice);

/// All arrays for candidates of these boxes: a few entries are broken, others make no difference.
Extras draw_extras(const Boxes& boxes, Dice& dice);

}  // namespace crowd::test
