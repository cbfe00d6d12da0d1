// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/gstcrowdoverlaysettings.hpp"

#include "overlay/draw/colortext.hpp"

namespace crowd::overlay {

namespace {

using Table = PropertyTable<Settings>;

GType show_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Show::survivors), "Regions of interest, with labels", "survivors"},
      {static_cast<int>(Show::candidates), "Candidates: every raw box, thin and without labels", "candidates"},
      {static_cast<int>(Show::both), "Candidates below survivors", "both"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCrowdOverlayShow", values);
  return type;
}

void set_color(ColorText& color, std::uint32_t& used, const GValue* value) {
  const std::string text = text_of(value);
  const auto parsed = draw::parse_color(text);
  if (!parsed) {
    color.refused = "\"" + text + "\"";
    return;
  }
  used = *parsed;
  color.text = text;
  color.refused.clear();
}

struct ColorProperty {
  std::size_t index;  // in Settings::colors
  const char* nick;
  const char* what;
  std::uint32_t draw::Style::*used;
};

void add_color(Table& table, const Settings& defaults, const ColorProperty& row) {
  const ColorText& color = defaults.colors[row.index];
  const std::string blurb = std::string(row.what) + ": " + draw::color_forms;
  table.add(
      g_param_spec_string(g_intern_string(color.property.c_str()), row.nick, g_intern_string(blurb.c_str()),
                          g_intern_string(color.text.c_str()), settable_at_any_time),
      [row](const Settings& s, GValue* value) { write_value(value, s.colors[row.index].text); },
      [row](Settings& s, const GValue* value) { set_color(s.colors[row.index], s.live.style.*row.used, value); });
}

void add_outlines(Table& table) {
  const Settings defaults;
  const draw::Style& style = defaults.live.style;
  table.add(
      g_param_spec_enum("show", "What to show", "Which boxes are drawn", show_type(),
                        static_cast<int>(defaults.live.show), controllable),
      [](auto& s) -> auto& { return s.live.show; });
  add_color(table, defaults, {0, "Color of survivors", "Color of outline and label", &draw::Style::color});
  add_color(table, defaults, {1, "Color of candidates", "Color of outlines", &draw::Style::candidate_color});
  table.add(
      g_param_spec_int("thickness", "Thickness of survivors",
                       "Width of outlines in pixels; 0: a 360th of the frame's height", 0, 64, style.thickness,
                       controllable),
      [](auto& s) -> auto& { return s.live.style.thickness; });
  table.add(
      g_param_spec_int("candidate-thickness", "Thickness of candidates", "Width of outlines in pixels", 1, 64,
                       style.candidate_thickness, controllable),
      [](auto& s) -> auto& { return s.live.style.candidate_thickness; });
}

void add_text(Table& table) {
  const draw::Style style;
  table.add(
      g_param_spec_int("font-scale", "Size of text",
                       "Pixels per dot of the font, whose letters are 7 dots high; 0: a 540th of the frame's height", 0,
                       32, style.font_scale, controllable),
      [](auto& s) -> auto& { return s.live.style.font_scale; });
  const auto add_switch = [&table, &style](const char* name, const char* nick, const char* blurb,
                                           bool draw::Style::*member) {
    table.add(
        g_param_spec_boolean(name, nick, blurb, style.*member, controllable), [member](auto& s) -> auto& {
          return s.live.style.*member;
        });
  };
  add_switch("draw-labels", "Draw class names", "Write the class of survivors", &draw::Style::labels);
  add_switch("draw-scores", "Draw scores",
             "Write the score of survivors: in percent, or as it is where it lies outside 0..1", &draw::Style::scores);
  add_switch("draw-counts", "Draw counts",
             "Write the number of candidates that each survivor represents, itself included", &draw::Style::counts);
  add_switch("draw-summary", "Draw summary", "Write the numbers of candidates and survivors into the top left corner",
             &draw::Style::summary);
}

}  // namespace

const PropertyTable<Settings>& properties() {
  static const Table table = [] {
    Table rows;
    add_outlines(rows);
    add_text(rows);
    return rows;
  }();
  return table;
}

std::string take_problem(Settings& settings) {
  std::string problem;
  for (ColorText& color : settings.colors) {
    if (color.refused.empty())
      continue;
    problem += (problem.empty() ? "" : " ") + color.property + " stays " + color.text + ": " + color.refused +
               " cannot be read.";
    color.refused.clear();
  }
  return problem.empty() ? problem : problem + " A color is " + draw::color_forms + ".";
}

}  // namespace crowd::overlay
