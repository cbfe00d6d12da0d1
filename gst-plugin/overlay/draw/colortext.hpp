// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** colortext.hpp: colours as people type them. */
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace crowd::draw {

/** The forms that are understood, for messages and manuals. */
constexpr char color_forms[] =
    "class (a color for each class), a name (aqua, black, blue, fuchsia, gray, green, lime, maroon, navy, olive, "
    "orange, purple, red, silver, teal, white, yellow), #RGB, #RRGGBB, 0xRRGGBB, #AARRGGBB or 0xAARRGGBB (AA is "
    "ignored: what is drawn is opaque)";

/** A colour of a Style; nothing if the text is none of color_forms. Upper and lower case are the same. */
std::optional<std::uint32_t> parse_color(std::string_view text);

}  // namespace crowd::draw
