// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * What objects of GstAnalytics cost crowdnms on the host, without the clustering: CPU time to read candidates, to leave
 * one in 14 of them in a relation meta made anew, and of that what the library takes to free the detector's relation
 * meta, which is a matrix of n * n bytes. That is paid for each frame anyway, at the latest where the frame ends. Then
 * what it costs to write survivors of other candidates.
 *
 *     bench_analytics
 */

#include <gst/analytics/analytics.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <vector>

#include "meta/adapter.hpp"

namespace {

namespace meta = crowd::meta;

constexpr guint cluster = 14;
constexpr int rounds = 41;

/// What an object has behind it.
enum class With { nothing, classes, classes_and_tracks };
constexpr const char* names[] = {"", " with classes", " with classes and tracks"};

double cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

GstBuffer* make_frame(guint objects, With with) {
  GstBuffer* buffer = gst_buffer_new();
  const gsize n = objects * (1 + gsize(with));
  GstAnalyticsRelationMetaInitParams room = {n, n * 128};
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta_full(buffer, &room);
  GQuark person = g_quark_from_string("person");
  gfloat level = 1;
  for (guint i = 0; i < objects; ++i) {
    GstAnalyticsODMtd object;
    GstAnalyticsClsMtd classification;
    const gint x = static_cast<gint>(i / cluster) % 40 * 45, y = static_cast<gint>(i / cluster) / 40 * 100;
    gst_analytics_relation_meta_add_od_mtd(relations, person, x, y, 40, 90, 1.F / static_cast<float>(i + 1), &object);
    if (with == With::nothing)
      continue;
    gst_analytics_relation_meta_add_cls_mtd(relations, 1, &level, &person, &classification);
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, classification.id);
    if (with == With::classes)
      continue;
    GstAnalyticsTrackingMtd track;
    gst_analytics_relation_meta_add_tracking_mtd(relations, i, 0, &track);
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, track.id);
  }
  return buffer;
}

struct Clusters {
  explicit Clusters(guint objects) {
    for (guint i = 0; i < objects; ++i) {
      if (i % cluster == 0)
        survivors.push_back(i);
      representatives.push_back(i / cluster * cluster);
      places.push_back(i % cluster == 0 ? static_cast<std::int32_t>(i / cluster) : meta::place_suppressed);
    }
    members.assign(survivors.size(), cluster);
  }
  meta::Verdict verdict() const {
    return {.survivors = survivors, .members = members, .representatives = representatives, .places = places};
  }
  std::vector<std::uint32_t> survivors, members, representatives;
  std::vector<std::int32_t> places;
};

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + rounds / 2);
  return times[rounds / 2];
}

void measure(guint objects, With with) {
  const Clusters clusters(objects);
  const auto adapter = meta::row_named("analytics").make();
  std::vector<double> reading, rewriting, freeing, ours;
  for (int round = 0; round < rounds; ++round) {
    GstBuffer* buffer = make_frame(objects, with);
    meta::Candidates candidates;
    meta::ObjectIds ids;
    const char* problem = nullptr;
    const double start = cpu_ms();
    adapter->read(buffer, {1920, 1080}, objects, candidates, problem);
    const double read = cpu_ms();
    adapter->rewrite(buffer, candidates, clusters.verdict(), meta::Mode::replace, ids);
    const double rewritten = cpu_ms();
    adapter->release();
    gst_buffer_unref(buffer);
    // The same relation meta, as far read as the other one was.
    buffer = make_frame(objects, with);
    adapter->read(buffer, {1920, 1080}, objects, candidates, problem);
    adapter->release();
    const double before = cpu_ms();
    gst_buffer_unref(buffer);
    freeing.push_back(cpu_ms() - before);
    reading.push_back(read - start);
    rewriting.push_back(rewritten - read);
    ours.push_back(rewritten - start - freeing.back());
  }
  std::printf(
      "%5u objects%s, %3zu left: read %.3f ms, rewrite %.3f ms, of that the library's freeing %.3f ms: ours %.3f ms\n",
      objects, names[int(with)], clusters.survivors.size(), median(reading), median(rewriting), median(freeing),
      median(ours));
}

void measure_writing(guint objects) {
  const auto adapter = meta::row_named("analytics").make();
  const std::vector<CrowdNmsBox> boxes(objects, CrowdNmsBox{10, 10, 50, 90});
  const std::vector<float> scores(objects, .5F);
  const std::vector<std::int32_t> classes(objects, 0);
  const meta::Candidates candidates = {boxes, scores, classes, objects, {.frame = {1920, 1080}}};
  std::vector<std::uint32_t> survivors(objects), members(objects, 1);
  std::iota(survivors.begin(), survivors.end(), 0);
  std::vector<double> writing, freeing;
  for (int round = 0; round < rounds; ++round) {
    GstBuffer* buffer = gst_buffer_new();
    meta::ObjectIds ids;
    const double start = cpu_ms();
    if (!adapter->write(buffer, {1920, 1080}, candidates, {survivors, members}, meta::Mode::replace, ids))
      return;
    const double written = cpu_ms();
    gst_buffer_unref(buffer);
    writing.push_back(written - start);
    freeing.push_back(cpu_ms() - written);
  }
  std::printf("%5u survivors of other candidates: write %.3f ms, the library's freeing %.3f ms\n", objects,
              median(writing), median(freeing));
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  for (const guint objects : {256u, 1024u, 4096u}) {
    measure(objects, With::nothing);
    measure(objects, With::classes);
    measure(objects, With::classes_and_tracks);
    measure_writing(objects);
  }
}
