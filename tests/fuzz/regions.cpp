// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GstVideoRegionOfInterestMeta of other detectors: structures of any names, fields, types and values, any ids and
// parents. crowdnms reads, clusters and rewrites them in both modes, crowdoverlay draws them.

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/detection.hpp"
#include "cluster.hpp"
#include "drawing.hpp"
#include "input.hpp"
#include "start.hpp"

namespace {

using namespace crowd;
using fuzz::Input;
using fuzz::require;

using Region = GstVideoRegionOfInterestMeta;

constexpr const char* structure_names[] = {"detection", "nms", "extra-data", "roi/x264", "object_id", "classification"};
constexpr const char* field_names[] = {"confidence", "score",      "label",   "label_id",   "x_min", "y_min", "x_max",
                                       "y_max",      "cluster-id", "members", "suppressed", "kept",  "other"};
/// Structures take no text that is not UTF-8, types of regions do.
constexpr const char* texts[] = {"person", "", "caf\xc3\xa9", "0.5", nullptr};
constexpr const char* types[] = {"person", "", "\xff\xfe", "caf\xc3\xa9", nullptr};

double read_number(Input& input) {
  constexpr double odd[] = {0.0,
                            1.0,
                            -1.0,
                            1.0 + 1e-6,
                            1e300,
                            -1e300,
                            1e-310,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  switch (input.below(4)) {
    case 0:
      return input.any<double>();
    case 1:
      return input.pick(odd);
    case 2:
      return input.below(1000);
    default:
      return input.below(256) / 255.0;
  }
}

void set_value(Input& input, GstStructure* structure, const char* field) {
  switch (input.below(12)) {
    case 0:
      return gst_structure_set(structure, field, G_TYPE_DOUBLE, read_number(input), nullptr);
    case 1:
      return gst_structure_set(structure, field, G_TYPE_FLOAT, double(static_cast<float>(read_number(input))), nullptr);
    case 2:
      return gst_structure_set(structure, field, G_TYPE_INT, input.any<gint>(), nullptr);
    case 3:
      return gst_structure_set(structure, field, G_TYPE_UINT, input.any<guint>(), nullptr);
    case 4:
      return gst_structure_set(structure, field, G_TYPE_INT64, input.any<gint64>(), nullptr);
    case 5:
      return gst_structure_set(structure, field, G_TYPE_UINT64, input.any<guint64>(), nullptr);
    case 6:
      return gst_structure_set(structure, field, G_TYPE_BOOLEAN, gboolean(input.flag()), nullptr);
    case 7:
      return gst_structure_set(structure, field, GST_TYPE_FRACTION, input.any<gint16>(), 1 + int(input.below(9)),
                               nullptr);
    case 8: {
      GstStructure* inner = gst_structure_new_empty(input.pick(structure_names));
      gst_structure_set(structure, field, GST_TYPE_STRUCTURE, inner, nullptr);
      return gst_structure_free(inner);
    }
    case 9: {
      GValue list = G_VALUE_INIT;
      gst_value_list_init(&list, 0);
      return gst_structure_take_value(structure, field, &list);
    }
    case 10:
      return gst_structure_set(structure, field, G_TYPE_INT, gint(input.below(4)), nullptr);
    default:
      return gst_structure_set(structure, field, G_TYPE_STRING, input.pick(texts), nullptr);
  }
}

GstStructure* new_structure(Input& input) {
  GstStructure* structure = gst_structure_new_empty(input.pick(structure_names));
  for (std::uint32_t fields = input.below(8); fields > 0 && !input.empty(); fields--)
    set_value(input, structure, input.pick(field_names));
  return structure;
}

void add_region(Input& input, GstBuffer* buffer) {
  const auto pixels = [&input] { return input.below(8) == 7 ? input.any<guint>() : guint(input.below(256)); };
  const auto id = [&input] { return input.below(8) == 7 ? input.any<gint>() : gint(input.below(6)); };
  const char* type = input.pick(types);
  const guint x = pixels(), y = pixels(), w = pixels(), h = pixels();
  Region* region =
      gst_buffer_add_video_region_of_interest_meta_id(buffer, type ? g_quark_from_string(type) : 0, x, y, w, h);
  region->id = id();
  region->parent_id = id();
  if (input.below(16) == 15)
    region->meta.flags = static_cast<GstMetaFlags>(region->meta.flags | GST_META_FLAG_LOCKED);
  for (std::uint32_t params = input.below(4); params > 0 && !input.empty(); params--)
    gst_video_region_of_interest_meta_add_param(region, new_structure(input));
}

/// What a region says, but its parent's number.
std::string words_of(const Region& region) {
  std::string words = std::to_string(region.id) + " " + std::to_string(region.roi_type);
  for (const guint number : {region.x, region.y, region.w, region.h})
    words += " " + std::to_string(number);
  for (const GList* link = region.params; link; link = link->next) {
    // Values that have no text, NaN among them, compare by their fields' names.
    gchar* text = gst_structure_to_string(static_cast<const GstStructure*>(link->data));
    words += " " + std::string(text);
    g_free(text);
  }
  return words;
}

std::vector<Region*> regions_of(GstBuffer* buffer) {
  std::vector<Region*> all;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    all.push_back(reinterpret_cast<Region*>(meta));
  return all;
}

/// A buffer's regions as they were before a rewrite, by place: candidates have a number.
struct Before {
  explicit Before(GstBuffer* buffer) : regions(regions_of(buffer)) {
    for (const Region* region : regions) {
      const bool candidate = meta::read_detection(*region).has_value();
      number[region] = candidate ? candidates++ : CROWD_NMS_NONE;
      locked += candidate && GST_META_FLAG_IS_SET(&region->meta, GST_META_FLAG_LOCKED);
      words[region] = words_of(*region);
    }
  }
  std::vector<Region*> regions;
  std::map<const Region*, std::uint32_t> number;
  std::map<const Region*, std::string> words;
  std::uint32_t candidates = 0, locked = 0;
};

void check_candidate(const Region& region, std::int32_t place, const meta::Verdict& verdict, meta::Mode mode) {
  const bool kept = place >= 0;
  if (!kept && mode == meta::Mode::replace) {
    require(GST_META_FLAG_IS_SET(&region.meta, GST_META_FLAG_LOCKED), "what is suppressed is gone");
    return;
  }
  const GstStructure* nms = meta::find_param(region, meta::quarks().nms);
  gboolean says_kept = FALSE;
  gint cluster = -2;
  guint members = 0, suppressed = 0;
  require(nms && gst_structure_get(nms, "kept", G_TYPE_BOOLEAN, &says_kept, "cluster-id", G_TYPE_INT, &cluster,
                                   "members", G_TYPE_UINT, &members, "suppressed", G_TYPE_UINT, &suppressed, nullptr),
          "a region that was clustered says so");
  require(kept == bool(says_kept), "a region says what became of it");
  require(cluster >= -1 && cluster < gint(verdict.survivors.size()), "a cluster has a survivor");
  if (kept)
    require(cluster == place && members == verdict.members[std::size_t(place)] && suppressed == members - 1,
            "a survivor counts its members");
}

void check(GstBuffer* buffer, const Before& before, const meta::Verdict& verdict, meta::Mode mode) {
  const std::vector<Region*> after = regions_of(buffer);
  std::size_t survivors = 0, others = 0, last = 0;
  for (const Region* region : after) {
    const auto place = std::find(before.regions.begin() + std::ptrdiff_t(last), before.regions.end(), region);
    require(place != before.regions.end(), "what is left was there, in the same order");
    last = std::size_t(place - before.regions.begin()) + 1;
    const std::uint32_t i = before.number.at(region);
    if (i == CROWD_NMS_NONE) {
      others++;
      require(words_of(*region) == before.words.at(region), "what is no detection is left alone");
      continue;
    }
    const std::int32_t at = i < verdict.places.size() ? verdict.places[i] : std::int32_t(meta::place_rejected);
    survivors += at >= 0;
    check_candidate(*region, at, verdict, mode);
  }
  require(others == before.regions.size() - before.candidates, "no other region is lost");
  require(survivors == verdict.survivors.size(), "each survivor is there");
  if (mode == meta::Mode::annotate)
    require(after.size() == before.regions.size(), "annotating removes nothing");
  else
    require(after.size() <= others + survivors + before.locked, "replacing leaves survivors");
}

meta::FrameSize frame_size(guint width, guint height) {
  meta::FrameSize size;
  size.width = width;
  size.height = height;
  return size;
}

void show(Input& input, GstBuffer* buffer) {
  draw::Detections detections;
  detections.read(buffer, {64, 64});
  const std::size_t found = detections.survivors.size() + detections.candidates.size();
  require(found <= regions_of(buffer).size(), "a region is drawn once");
  fuzz::draw_detections(input, detections);
}

void cluster(Input& input, GstBuffer* buffer, meta::Mode mode) {
  const auto adapter = meta::row_named("roi").make();
  const Before before(buffer);
  require(adapter->probe(buffer) == (before.candidates > 0), "candidates are found");
  const meta::FrameSize size = input.flag() ? meta::FrameSize{} : frame_size(1 + input.below(4096), input.below(4096));
  meta::Candidates candidates;
  const char* problem = nullptr;
  const std::uint32_t limit = input.flag() ? input.below(4) : 1u << 24;
  if (!adapter->read(buffer, size, limit, candidates, problem)) {
    // Left by a crowdnms on a frame of another shape.
    require(problem && problem[0], "what cannot be read is reported");
    adapter->remove(buffer);
    adapter->release();
    show(input, buffer);
    return;
  }
  const std::size_t n = candidates.boxes.size();
  require(candidates.count == before.candidates && n == std::min(candidates.count, limit), "all candidates are read");
  require(candidates.scores.size() == n && candidates.classes.size() == n, "the arrays are equally long");
  const fuzz::Clusters clusters(candidates, input.below(101) / 100.0f);
  const CrowdNmsReport& report = clusters.report();
  require(report.candidates == candidates.count && report.overflow == candidates.count - n, "nothing is lost");
  meta::ObjectIds ids;
  adapter->rewrite(buffer, candidates, clusters.verdict(), mode, ids);
  check(buffer, before, clusters.verdict(), mode);
  adapter->release();
  show(input, buffer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  const meta::Mode mode = input.flag() ? meta::Mode::replace : meta::Mode::annotate;
  GstBuffer* buffer = gst_buffer_new();
  for (std::uint32_t regions = input.below(16); regions > 0 && !input.empty(); regions--)
    add_region(input, buffer);
  show(input, buffer);
  // The second time, regions have the marks of the first.
  cluster(input, buffer, mode);
  cluster(input, buffer, input.flag() ? meta::Mode::replace : meta::Mode::annotate);
  gst_buffer_unref(buffer);
  return 0;
}
