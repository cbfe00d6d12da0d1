// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Marks functions that run on the host and on a device.
#pragma once

#if defined(__CUDACC__)
#define CROWD_HD __host__ __device__
#else
#define CROWD_HD
#endif
