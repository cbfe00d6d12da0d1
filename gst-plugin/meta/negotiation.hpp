// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How elements agree, by the ALLOCATION query, that boxes stay in device memory: gstcrowdboxesmeta.h has the words.
#pragma once

#include <gst/gst.h>

#include <initializer_list>

namespace crowd::meta {

inline constexpr char candidates_on_device[] = "candidates-on-device";
inline constexpr char survivors_on_device[] = "survivors-on-device";

/// Puts GstCrowdBoxesMeta into the answer to an ALLOCATION query, with these fields set to TRUE, in place of what an
/// element further downstream said.
void advertise_boxes(GstQuery* query, std::initializer_list<const char*> fields);

/// Whether the answer has GstCrowdBoxesMeta with this field set to TRUE.
bool boxes_wanted(GstQuery* query, const char* field);

/// Asks the peer of `pad`, an always-in-place element's source pad: the base class does not.
bool downstream_wants_boxes(GstPad* pad, const char* field);

}  // namespace crowd::meta
