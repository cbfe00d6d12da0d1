/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_TENSOR_DEC_H
#define GST_CROWD_TENSOR_DEC_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CROWD_TENSOR_DEC (gst_crowd_tensor_dec_get_type())
G_DECLARE_FINAL_TYPE(GstCrowdTensorDec, gst_crowd_tensor_dec, GST, CROWD_TENSOR_DEC, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(crowdtensordec);

G_END_DECLS

#endif /* GST_CROWD_TENSOR_DEC_H */
