/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_PRELUDE_H
#define GST_CROWD_PRELUDE_H

#include <glib.h>

/* What the library exports; everything else is hidden. */
#define GST_CROWD_API __attribute__ ((visibility ("default")))

#endif /* GST_CROWD_PRELUDE_H */
