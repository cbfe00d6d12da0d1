// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/gstcrowdoverlaysettings.hpp"

#include "overlay/draw/colortext.hpp"

namespace crowd::overlay {

namespace {

enum {
  PROP_0,
  PROP_SHOW,
  PROP_COLOR,
  PROP_CANDIDATE_COLOR,
  PROP_THICKNESS,
  PROP_CANDIDATE_THICKNESS,
  PROP_FONT_SCALE,
  PROP_DRAW_LABELS,
  PROP_DRAW_SCORES,
  PROP_DRAW_COUNTS,
  PROP_DRAW_SUMMARY,
  PROP_STATS,
};

constexpr auto fixed_property =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto live_property = static_cast<GParamFlags>(fixed_property | GST_PARAM_CONTROLLABLE);

void set_color(ColorText& color, std::uint32_t& used, const GValue* value) {
  const char* typed = g_value_get_string(value);
  const std::string text = typed ? typed : "";
  const auto parsed = draw::parse_color(text);
  if (!parsed) {
    color.refused = "\"" + text + "\"";
    return;
  }
  used = *parsed;
  color.text = text;
  color.refused.clear();
}

void install_color(GObjectClass* object_class, guint id, const ColorText& color, const char* nick, const char* what) {
  const std::string blurb = std::string(what) + ": " + draw::color_forms;
  g_object_class_install_property(
      object_class, id,
      g_param_spec_string(g_intern_string(color.property.c_str()), nick, g_intern_string(blurb.c_str()),
                          g_intern_string(color.text.c_str()), fixed_property));
}

void install_outlines(GObjectClass* object_class) {
  const Settings defaults;
  const draw::Style& style = defaults.live.style;
  g_object_class_install_property(object_class, PROP_SHOW,
                                  g_param_spec_enum("show", "What to show", "Which boxes are drawn", show_type(),
                                                    static_cast<int>(defaults.live.show), live_property));
  install_color(object_class, PROP_COLOR, defaults.colors[0], "Color of survivors", "Color of outline and label");
  install_color(object_class, PROP_CANDIDATE_COLOR, defaults.colors[1], "Color of candidates", "Color of outlines");
  g_object_class_install_property(object_class, PROP_THICKNESS,
                                  g_param_spec_int("thickness", "Thickness of survivors",
                                                   "Width of outlines in pixels; 0: a 360th of the frame's height", 0,
                                                   64, style.thickness, live_property));
  g_object_class_install_property(
      object_class, PROP_CANDIDATE_THICKNESS,
      g_param_spec_int("candidate-thickness", "Thickness of candidates", "Width of outlines in pixels", 1, 64,
                       style.candidate_thickness, live_property));
  g_object_class_install_property(
      object_class, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Since the start, all uint64: frames, survivors and candidates drawn (but those in device memory), failures "
          "(frames that could not be drawn on, or whose boxes were lost on the way or could not be read)",
          GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

void install_text(GObjectClass* object_class) {
  const draw::Style style;
  g_object_class_install_property(
      object_class, PROP_FONT_SCALE,
      g_param_spec_int("font-scale", "Size of text",
                       "Pixels per dot of the font, whose letters are 7 dots high; 0: a 540th of the frame's height", 0,
                       32, style.font_scale, live_property));
  const auto install_switch = [object_class](guint id, const char* name, const char* nick, const char* blurb, bool on) {
    g_object_class_install_property(object_class, id, g_param_spec_boolean(name, nick, blurb, on, live_property));
  };
  install_switch(PROP_DRAW_LABELS, "draw-labels", "Draw class names", "Write the class of survivors", style.labels);
  install_switch(PROP_DRAW_SCORES, "draw-scores", "Draw scores",
                 "Write the score of survivors: in percent, or as it is where it lies outside 0..1", style.scores);
  install_switch(PROP_DRAW_COUNTS, "draw-counts", "Draw counts",
                 "Write the number of candidates that each survivor stands for, itself included", style.counts);
  install_switch(PROP_DRAW_SUMMARY, "draw-summary", "Draw summary",
                 "Write the numbers of candidates and survivors into the top left corner", style.summary);
}

}  // namespace

GType show_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Show::survivors), "Regions of interest, with labels", "survivors"},
      {static_cast<int>(Show::candidates), "Candidates: every raw box, thin and without labels", "candidates"},
      {static_cast<int>(Show::both), "Candidates below survivors", "both"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstCrowdOverlayShow", values);
  return type;
}

void install_properties(GObjectClass* object_class) {
  install_outlines(object_class);
  install_text(object_class);
}

bool set_property(Settings& settings, guint id, const GValue* value) {
  draw::Style& style = settings.live.style;
  switch (id) {
    case PROP_SHOW:
      settings.live.show = static_cast<Show>(g_value_get_enum(value));
      return true;
    case PROP_COLOR:
      set_color(settings.colors[0], style.color, value);
      return true;
    case PROP_CANDIDATE_COLOR:
      set_color(settings.colors[1], style.candidate_color, value);
      return true;
    case PROP_THICKNESS:
      style.thickness = g_value_get_int(value);
      return true;
    case PROP_CANDIDATE_THICKNESS:
      style.candidate_thickness = g_value_get_int(value);
      return true;
    case PROP_FONT_SCALE:
      style.font_scale = g_value_get_int(value);
      return true;
    case PROP_DRAW_LABELS:
      style.labels = g_value_get_boolean(value);
      return true;
    case PROP_DRAW_SCORES:
      style.scores = g_value_get_boolean(value);
      return true;
    case PROP_DRAW_COUNTS:
      style.counts = g_value_get_boolean(value);
      return true;
    case PROP_DRAW_SUMMARY:
      style.summary = g_value_get_boolean(value);
      return true;
    default:
      return false;
  }
}

bool get_property(const Settings& settings, guint id, GValue* value) {
  const draw::Style& style = settings.live.style;
  switch (id) {
    case PROP_SHOW:
      g_value_set_enum(value, static_cast<int>(settings.live.show));
      return true;
    case PROP_COLOR:
      g_value_set_string(value, settings.colors[0].text.c_str());
      return true;
    case PROP_CANDIDATE_COLOR:
      g_value_set_string(value, settings.colors[1].text.c_str());
      return true;
    case PROP_THICKNESS:
      g_value_set_int(value, style.thickness);
      return true;
    case PROP_CANDIDATE_THICKNESS:
      g_value_set_int(value, style.candidate_thickness);
      return true;
    case PROP_FONT_SCALE:
      g_value_set_int(value, style.font_scale);
      return true;
    case PROP_DRAW_LABELS:
      g_value_set_boolean(value, style.labels);
      return true;
    case PROP_DRAW_SCORES:
      g_value_set_boolean(value, style.scores);
      return true;
    case PROP_DRAW_COUNTS:
      g_value_set_boolean(value, style.counts);
      return true;
    case PROP_DRAW_SUMMARY:
      g_value_set_boolean(value, style.summary);
      return true;
    default:
      return false;
  }
}

std::string take_complaint(Settings& settings) {
  std::string complaint;
  for (ColorText& color : settings.colors) {
    if (color.refused.empty())
      continue;
    complaint += (complaint.empty() ? "" : " ") + color.property + " stays " + color.text + ": " + color.refused +
                 " cannot be read.";
    color.refused.clear();
  }
  return complaint.empty() ? complaint : complaint + " A color is " + draw::color_forms + ".";
}

}  // namespace crowd::overlay
