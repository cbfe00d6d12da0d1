// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/crowd/gstcrowdboxesmeta.h>

#include <memory>
#include <set>
#include <vector>

namespace {

constexpr char property[] = "add-borders";
/// Elements of a pipeline that are asked, lest a walk over a large one take long.
constexpr std::size_t max_elements = 256;

struct Unref {
  void operator()(gpointer object) const {
    gst_object_unref(object);
  }
};
using PadRef = std::unique_ptr<GstPad, Unref>;
using ElementRef = std::unique_ptr<GstElement, Unref>;

/// The pads that data of `pad` comes from, one step upstream.
std::vector<PadRef> before(GstPad* pad) {
  std::vector<PadRef> pads;
  if (GST_PAD_IS_SINK(pad)) {
    if (GstPad* peer = gst_pad_get_peer(pad))
      pads.emplace_back(peer);
    return pads;
  }
  GstIterator* links = gst_pad_iterate_internal_links(pad);
  GValue item = G_VALUE_INIT;
  while (links && gst_iterator_next(links, &item) == GST_ITERATOR_OK) {
    pads.emplace_back(GST_PAD(g_value_dup_object(&item)));
    g_value_reset(&item);
  }
  g_value_unset(&item);
  g_clear_pointer(&links, gst_iterator_free);
  return pads;
}

/// Width over height of what the caps of a pad show; 0 if unknown.
double aspect_of(GstPad* pad) {
  GstCaps* caps = gst_pad_get_current_caps(pad);
  if (!caps)
    return 0;
  gint width = 0, height = 0, n = 1, d = 1;
  const GstStructure* structure = gst_caps_get_size(caps) ? gst_caps_get_structure(caps, 0) : nullptr;
  if (structure) {
    gst_structure_get_int(structure, "width", &width);
    gst_structure_get_int(structure, "height", &height);
    gst_structure_get_fraction(structure, "pixel-aspect-ratio", &n, &d);
  }
  gst_caps_unref(caps);
  return width > 0 && height > 0 && n > 0 && d > 0 ? double(width) * n / (double(height) * d) : 0;
}

/// Whether an element's output has another aspect ratio than its input, as far as is known. While new caps go
/// downstream, source pads have them and sink pads do not yet.
bool may_add_borders(GstPad* source_pad) {
  const double after = aspect_of(source_pad);
  bool same = after > 0;
  for (const PadRef& sink_pad : before(source_pad))
    for (const PadRef& peer : before(sink_pad.get()))
      same &= aspect_of(peer.get()) == after;
  return !same;
}

GstCrowdBoxesBorders borders_of(GstElement* element) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  if (!spec || spec->value_type != G_TYPE_BOOLEAN)
    return GST_CROWD_BOXES_BORDERS_UNKNOWN;
  gboolean added = FALSE;
  g_object_get(element, property, &added, nullptr);
  return added ? GST_CROWD_BOXES_BORDERS_ADDED : GST_CROWD_BOXES_BORDERS_NONE;
}

}  // namespace

GstCrowdBoxesBorders gst_crowd_boxes_borders_before(GstPad* sink_pad) {
  g_return_val_if_fail(GST_IS_PAD(sink_pad), GST_CROWD_BOXES_BORDERS_UNKNOWN);
  GstCrowdBoxesBorders all = GST_CROWD_BOXES_BORDERS_UNKNOWN;
  std::vector<PadRef> open = before(sink_pad);
  std::set<GstPad*> seen;
  while (!open.empty() && seen.size() < max_elements) {
    const PadRef pad = std::move(open.back());
    open.pop_back();
    if (!seen.insert(pad.get()).second)
      continue;
    if (const ElementRef element(gst_pad_get_parent_element(pad.get()));
        element && GST_PAD_IS_SRC(pad.get()) && may_add_borders(pad.get())) {
      const GstCrowdBoxesBorders borders = borders_of(element.get());
      if (borders != GST_CROWD_BOXES_BORDERS_UNKNOWN && all != GST_CROWD_BOXES_BORDERS_UNKNOWN && borders != all)
        return GST_CROWD_BOXES_BORDERS_UNKNOWN;
      if (borders != GST_CROWD_BOXES_BORDERS_UNKNOWN)
        all = borders;
    }
    for (PadRef& next : before(pad.get()))
      open.push_back(std::move(next));
  }
  return all;
}
