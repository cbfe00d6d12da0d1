// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CUDA context an element and its neighbours get. The driver runs contexts in turn, a millisecond or two each.
// Libraries on the CUDA runtime, such as those for networks, work in the device's primary context, and so should all
// pipelines of a process, unless the application gives them another one.
#pragma once

#include <gst/gst.h>

namespace crowd {

// The first two are not there in a build without gst/cuda.

/// Gives `element`, by gst_element_set_context(), the context of a neighbour. False if none has one.
bool ask_neighbours(GstElement* element);

/// Gives it the context that the application has for it, or else the primary one of `device_id` (-1: the first), of
/// which the application and the bins are told, as gst/cuda's elements do. False where there is none.
bool ask_application(GstElement* element, int device_id);

/// Answers a neighbour that asks for a CUDA context, where nothing behind `element` does, with the one that it was
/// given, or else by ask_application(). False for other queries and where none can be had.
bool answer_with_context(GstElement* element, GstQuery* query, int device_id);

}  // namespace crowd
