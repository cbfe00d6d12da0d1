/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_NMS_H
#define GST_CROWD_NMS_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CROWD_NMS (gst_crowd_nms_get_type())
G_DECLARE_FINAL_TYPE(GstCrowdNms, gst_crowd_nms, GST, CROWD_NMS, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(crowdnms);

G_END_DECLS

#endif /* GST_CROWD_NMS_H */
