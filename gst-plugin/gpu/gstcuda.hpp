// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

//
// The headers of gst/cuda, unstable API, in all versions.
#pragma once

#include <gst/gst.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif
