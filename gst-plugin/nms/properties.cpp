// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nms/properties.hpp"

#include <limits>

#include "cluster/setting_rows.hpp"

namespace crowd {

namespace {

using Table = PropertyTable<NmsSettings>;

constexpr guint paper_d_max_limit = 65536;

constexpr auto itself = [](auto& settings) -> auto& {
  return settings;
};

void add_rule_properties(Table& table, const NmsSettings& defaults) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const CrowdNmsParams& params = defaults.params;
  table.add(
      g_param_spec_enum(
          "method", "Method",
          "Which candidates are suppressed. map-reduce keeps a subset of greedy's survivors; paper ignores metric, "
          "comparator, pixel-offset, class-agnostic and score-threshold. The soft and matrix methods lower scores "
          "instead: survivors are those left with score-threshold or more, and have the new scores. nmw and wbf merge "
          "boxes",
          method_type(), params.method, controllable),
      [](auto& s) -> auto& { return s.params.method; });
  table.add(
      g_param_spec_double("iou-threshold", "Overlap threshold",
                          "Overlap of two boxes, as a ratio from 0 to 1 by metric, above which the worse-ranked one is "
                          "suppressed",
                          0, 1, params.overlap_threshold, controllable),
      [](auto& s) -> auto& { return s.params.overlap_threshold; });
  table.add(
      g_param_spec_double(
          "score-threshold", "Score threshold",
          "Lowest score, in the detector's own unit, of a candidate that counts; -inf: every score does", -infinity,
          infinity, defaults.score_threshold, controllable),
      [](const NmsSettings& s, GValue* value) { write_value(value, s.score_threshold); },
      [](NmsSettings& s, const GValue* value) {
        s.score_threshold = g_value_get_double(value);
        s.params.score_threshold = float_not_below(s.score_threshold);
      });
  table.add(
      g_param_spec_enum("metric", "Overlap metric", "What the intersection of two boxes is divided by", metric_type(),
                        params.metric, controllable),
      [](auto& s) -> auto& { return s.params.metric; });
  table.add(
      g_param_spec_enum("comparator", "Comparator", "Whether an overlap equal to iou-threshold suppresses",
                        comparator_type(), params.comparator, controllable),
      [](auto& s) -> auto& { return s.params.comparator; });
  table.add(
      g_param_spec_uint("pixel-offset", "Pixel offset",
                        "Added to widths and heights, in pixels: 0 for half-open boxes, 1 where the last pixel is "
                        "inclusive (older detectors)",
                        0, 1, params.pixel_offset, controllable),
      [](auto& s) -> auto& { return s.params.pixel_offset; });
  add_class_property(table, itself);
  table.add(
      g_param_spec_float("sigma", "Sigma",
                         "Of methods soft-gaussian and matrix-gaussian, no unit: in the former a larger one lowers "
                         "scores less, in the latter more, where 2 is usual",
                         std::numeric_limits<float>::min(), std::numeric_limits<float>::max(), params.sigma,
                         controllable),
      [](auto& s) -> auto& { return s.params.sigma; });
}

void add_pair_properties(Table& table, const NmsSettings& defaults) {
  const CrowdNmsParams& params = defaults.params;
  table.add(
      g_param_spec_enum("rule", "Rule",
                        "Which pairs of candidates that overlap count, of all methods but paper and wbf. All but plain "
                        "read an array that the candidates' GstCrowdBoxesMeta must have",
                        rule_type(), params.rule, controllable),
      [](auto& s) -> auto& { return s.params.rule; });
  table.add(
      g_param_spec_float("max-distance", "Max distance",
                         "Of rule feature (Salscheider 2020): two candidates that overlap by more than min-overlap are "
                         "of one object if their features are at most so far apart (L2), in the features' own unit",
                         0, std::numeric_limits<float>::max(), params.max_distance, controllable),
      [](auto& s) -> auto& { return s.params.max_distance; });
  table.add(
      g_param_spec_double("min-overlap", "Min overlap",
                          "Of rule feature (Salscheider 2020): overlap, as a ratio from 0 to iou-threshold, up to "
                          "which two candidates are of two objects, whatever their features",
                          0, 1, params.min_overlap, controllable),
      [](auto& s) -> auto& { return s.params.min_overlap; });
}

void add_class_attributes(Table& table) {
  table.add(
      g_param_spec_string(
          "class-attrs", "Settings of classes",
          "Thresholds of classes, by label or number: \"person,iou=0.6,score=0.3;car,iou=0.45\". iou and "
          "score are those of iou-threshold and score-threshold; what a class lacks is as there. The iou "
          "is that of the better-ranked box",
          "", settable_at_any_time),
      [](const NmsSettings& s, GValue* value) { g_value_set_string(value, s.classes ? s.classes->attrs.c_str() : ""); },
      [](NmsSettings& s, const GValue* value) {
        s.classes = make_class_settings(text_of(value), s.classes ? s.classes->filter : "");
      });
  table.add(
      g_param_spec_string("class-filter", "Classes to cluster",
                          "Labels or numbers of classes, separated by commas; candidates of all others are counted as "
                          "below-threshold and dropped. Empty: all classes",
                          "", settable_at_any_time),
      [](const NmsSettings& s, GValue* value) {
        g_value_set_string(value, s.classes ? s.classes->filter.c_str() : "");
      },
      [](NmsSettings& s, const GValue* value) {
        s.classes = make_class_settings(s.classes ? s.classes->attrs : "", text_of(value));
      });
}

GParamSpec* size_spec(const char* name, const char* nick, const char* blurb) {
  return g_param_spec_float(name, nick, blurb, 0, std::numeric_limits<float>::max(), 0, controllable);
}

void add_min_size(Table& table, GParamSpec* spec, float CrowdNmsParams::*limit) {
  table.add(
      spec, [limit](auto& s) -> auto& { return s.params.*limit; });
}

void add_max_size(Table& table, GParamSpec* spec, float CrowdNmsParams::*limit) {
  constexpr float none = std::numeric_limits<float>::infinity();
  table.add(
      spec,
      [limit](const NmsSettings& s, GValue* value) {
        write_value(value, s.params.*limit == none ? 0 : s.params.*limit);
      },
      [limit](NmsSettings& s, const GValue* value) {
        const float size = g_value_get_float(value);
        s.params.*limit = size > 0 ? size : none;
      });
}

void add_size_properties(Table& table) {
  add_min_size(table,
               size_spec("min-width", "Min width",
                         "Width of the smallest candidate that counts, in pixels of the frame that boxes are on, "
                         "pixel-offset included. What is smaller is counted as below-threshold"),
               &CrowdNmsParams::min_width);
  add_min_size(table, size_spec("min-height", "Min height", "Height of the smallest candidate that counts, likewise"),
               &CrowdNmsParams::min_height);
  add_max_size(table,
               size_spec("max-width", "Max width", "Width of the largest candidate that counts, likewise; 0: no limit"),
               &CrowdNmsParams::max_width);
  add_max_size(
      table,
      size_spec("max-height", "Max height", "Height of the largest candidate that counts, likewise; 0: no limit"),
      &CrowdNmsParams::max_height);
}

void add_merge_properties(Table& table, const NmsSettings& defaults) {
  const CrowdNmsParams& params = defaults.params;
  table.add(
      g_param_spec_enum("merge", "Merge",
                        "What box a survivor leaves with, made of the candidates that it represents. Of methods greedy "
                        "and map-reduce, as the next two",
                        merge_type(), params.merge, controllable),
      [](auto& s) -> auto& { return s.params.merge; });
  table.add(
      g_param_spec_enum("cluster-score", "Cluster score", "What score it leaves with", cluster_score_type(),
                        params.cluster_score, controllable),
      [](auto& s) -> auto& { return s.params.cluster_score; });
  table.add(
      g_param_spec_uint("min-members", "Min members",
                        "Candidates that a survivor has to represent, itself included; those with fewer are "
                        "suppressed. 0, 1: all stay",
                        0, G_MAXUINT, params.min_members, controllable),
      [](auto& s) -> auto& { return s.params.min_members; });
}

void add_model_properties(Table& table, const NmsSettings& defaults) {
  table.add(
      g_param_spec_uint("models", "Models",
                        "Of method wbf: how many detectors the candidates of a frame come from. The score of a cluster "
                        "that fewer of them found is lowered in proportion",
                        1, G_MAXUINT, defaults.params.models, controllable),
      [](auto& s) -> auto& { return s.params.models; });
  table.add(
      g_param_spec_string(
          "model-weights", "Weights of models",
          "Of methods nmw and wbf (Solovyev et al. 2019, ensemble-boxes): what scores are multiplied by, a number for "
          "each model that candidates are of: \"2,1,0.5\", no unit, at most 16, each finite and at least 0, one above "
          "0. nmw divides them by the largest; wbf counts them in place of `models`. The candidates' "
          "GstCrowdBoxesMeta must say which model each is of. Empty: all weigh the same",
          "", settable_at_any_time),
      [](const NmsSettings& s, GValue* value) {
        g_value_set_string(value, s.model_weights ? s.model_weights->text.c_str() : "");
      },
      [](NmsSettings& s, const GValue* value) {
        s.model_weights = make_model_weights(text_of(value));
        apply(s.model_weights.get(), s.params);
      });
}

void add_limit_properties(Table& table, const NmsSettings& defaults) {
  table.add(
      g_param_spec_uint(
          "max-candidates", "Max candidates",
          "Candidates of a frame that are looked at: the first in the order of the metadata, whatever their "
          "scores. Memory is set aside for them, about 100 bytes each. The rest is counted as overflow "
          "in stats",
          1, max_candidates_limit, defaults.max_candidates, controllable),
      [](auto& s) -> auto& { return s.max_candidates; });
  table.add(
      g_param_spec_uint("max-detections", "Max detections",
                        "Survivors of a frame that are kept, the best-ranked ones; 0: all. The rest is counted as "
                        "clipped in stats",
                        0, G_MAXUINT, defaults.max_detections, controllable),
      [](auto& s) -> auto& { return s.max_detections; });
  table.add(
      g_param_spec_uint(
          "paper-k", "Partitions of the paper's rows",
          "Method paper only: k, the number of partitions of a row of matrix B; a divisor of paper-d-max. "
          "On the GPU paper-d-max / paper-k may be at most 1024",
          1, paper_d_max_limit, defaults.params.paper_k, controllable),
      [](auto& s) -> auto& { return s.params.paper_k; });
  table.add(
      g_param_spec_uint("paper-d-max", "Side of the paper's matrix",
                        "Method paper only: D_max, the number of slots for candidates. On the GPU matrix B takes "
                        "D_max * D_max bytes; 0: max-candidates rounded up to a multiple of paper-k",
                        0, paper_d_max_limit, defaults.params.paper_d_max, controllable),
      [](auto& s) -> auto& { return s.params.paper_d_max; });
}

void add_environment_properties(Table& table, const NmsSettings& defaults) {
  add_backend_properties(table, itself);
  table.add(
      g_param_spec_enum("meta-source", "Metadata read", "Which metadata of a frame holds the candidates", source_type(),
                        int(defaults.source), controllable),
      [](auto& s) -> auto& { return s.source; });
  add_output_property(table, itself);
  table.add(
      g_param_spec_enum("mode", "Mode", "What is left on the frame", mode_type(), int(defaults.mode), controllable),
      [](auto& s) -> auto& { return s.mode; });
  table.add(
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post an element message \"crowdnms\" on the bus for every frame: timestamp, stream-time, "
                           "running-time, duration and nms-time in nanoseconds, counts, backend, method, and whether "
                           "it was clustered in CUDA memory (on-device, nms-time is 0)",
                           defaults.post_messages, controllable),
      [](auto& s) -> auto& { return s.post_messages; });
  table.add(
      g_param_spec_uint(
          "output-delay", "Output delay",
          "Frames that are held back, 0 or 1: with 1 the GPU works on a frame while the host does what is "
          "left of the one before. Adds a frame of latency, 40 ms where the caps have no framerate, or 0/1",
          0, 1, defaults.output_delay, settable_before_start),
      [](const NmsSettings& s, GValue* value) { write_value(value, guint{s.output_delay}); },
      [](NmsSettings& s, const GValue* value) { s.output_delay = g_value_get_uint(value) > 0; });
}

}  // namespace

const PropertyTable<NmsSettings>& nms_properties() {
  static const Table table = [] {
    const NmsSettings defaults;
    Table rows;
    add_rule_properties(rows, defaults);
    add_pair_properties(rows, defaults);
    add_class_attributes(rows);
    add_size_properties(rows);
    add_merge_properties(rows, defaults);
    add_model_properties(rows, defaults);
    add_limit_properties(rows, defaults);
    add_environment_properties(rows, defaults);
    return rows;
  }();
  return table;
}

}  // namespace crowd
