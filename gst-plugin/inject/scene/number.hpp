// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** Numbers of recordings, never in the locale's form. */

#pragma once

#include <optional>
#include <string_view>

namespace crowd::scene {

/** Rounded once; infinite where a float cannot hold it. */
float to_float(double value);

/**
 * A decimal number with or without a fraction and an exponent, "inf", "infinity" or "nan" in any case, the whole text.
 * 0, with its sign, where it is too small for a double; nothing where it is no such number, or a finite one that is
 * larger than a float can hold. Linear in the text.
 */
std::optional<double> number_from(std::string_view text);

}  // namespace crowd::scene
