/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_DETECT_H
#define GST_CROWD_DETECT_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CROWD_DETECT (gst_crowd_detect_get_type())
G_DECLARE_FINAL_TYPE(GstCrowdDetect, gst_crowd_detect, GST, CROWD_DETECT, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(crowddetect)

G_END_DECLS

#endif /* GST_CROWD_DETECT_H */
