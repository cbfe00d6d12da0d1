// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "sweeper.hpp"

namespace crowd {
namespace {

/** Reads a value of a property from text; false if the text is none, or out of the property's range. */
bool read_value(GValue* value, GParamSpec* property, const std::string& text) {
  g_value_init(value, property->value_type);
  return gst_value_deserialize_with_pspec(value, text.c_str(), property) && !g_param_value_validate(property, value);
}

}  // namespace

Sweeper::Sweeper(GstElement* element, const Sweep& sweep) : element_(element), sweep_(sweep) {}

Sweeper::~Sweeper() {
  if (pad_) {
    gst_pad_remove_probe(pad_, probe_);
    gst_object_unref(pad_);
  }
  for (GValue& value : values_)
    g_value_unset(&value);
  gst_object_unref(element_);
}

std::variant<std::unique_ptr<Sweeper>, std::string> Sweeper::make(GstBin* pipeline, const Sweep& sweep) {
  GstElement* element = gst_bin_get_by_name(pipeline, sweep.element.c_str());
  if (!element)
    return "--set: no element is called " + sweep.element + "; name it with name=" + sweep.element;
  std::unique_ptr<Sweeper> sweeper(new Sweeper(element, sweep));

  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), sweep.property.c_str());
  if (!property || !(property->flags & G_PARAM_WRITABLE))
    return "--set: " + sweep.element + " has no property " + sweep.property + " that can be set";
  for (const std::string& text : sweep.values) {
    sweeper->values_.push_back(G_VALUE_INIT);
    if (!read_value(&sweeper->values_.back(), property, text))
      return "--set: " + text + " is no value for " + sweep.element + "." + sweep.property + "; see gst-inspect-1.0 " +
             GST_OBJECT_NAME(gst_element_get_factory(element));
  }
  sweeper->step();
  return sweeper;
}

void Sweeper::step() {
  g_object_set_property(G_OBJECT(element_), sweep_.property.c_str(), &values_[steps_ % values_.size()]);
  steps_++;
}

std::string Sweeper::text() const {
  return sweep_.element + "." + sweep_.property + "=" + sweep_.values[(steps_ - 1) % values_.size()];
}

bool Sweeper::step_every_frames(std::uint64_t n) {
  pad_ = gst_element_get_static_pad(element_, "sink");
  if (!pad_)
    return false;
  every_ = n;
  probe_ = gst_pad_add_probe(pad_, GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr);
  return true;
}

GstPadProbeReturn Sweeper::on_frame(GstPad*, GstPadProbeInfo*, gpointer self) {
  auto* sweeper = static_cast<Sweeper*>(self);
  if (sweeper->frames_++ % sweeper->every_ == 0 && sweeper->frames_ > 1)
    sweeper->step();
  return GST_PAD_PROBE_OK;
}

}  // namespace crowd
