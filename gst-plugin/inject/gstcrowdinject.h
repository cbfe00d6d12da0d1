/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CROWD_INJECT (gst_crowd_inject_get_type())
G_DECLARE_FINAL_TYPE(GstCrowdInject, gst_crowd_inject, GST, CROWD_INJECT, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(crowdinject)

G_END_DECLS
