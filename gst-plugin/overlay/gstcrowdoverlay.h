/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_OVERLAY_H
#define GST_CROWD_OVERLAY_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CROWD_OVERLAY (gst_crowd_overlay_get_type())
G_DECLARE_FINAL_TYPE(GstCrowdOverlay, gst_crowd_overlay, GST, CROWD_OVERLAY, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(crowdoverlay)

G_END_DECLS

#endif /* GST_CROWD_OVERLAY_H */
