// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** What can be said of JSON by its characters alone. All linear in the text. */

#pragma once

#include <string>
#include <string_view>

namespace crowd::scene {

/** How many arrays and objects may lie in each other, so that reading them may recurse. */
constexpr int max_json_depth = 32;

/** Whether more than max_json_depth brackets are open at once; of any text. */
bool is_nested_too_deeply(std::string_view text);

/** Without blanks at its end. */
std::string_view without_blanks(std::string_view token);

/** Whether the whole text is a number in JSON's grammar. */
bool is_json_number(std::string_view text);

/** Its first 40 characters, other than printable ASCII replaced. */
std::string printable(std::string_view text);

}  // namespace crowd::scene
