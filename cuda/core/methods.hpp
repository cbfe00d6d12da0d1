// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The methods (CrowdNmsMethod), a row each. A row declares the functions by which the backends run it, and they define
// them: a backend that a row has no function for refuses the method with CROWD_NMS_UNSUPPORTED.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "core/table.hpp"
#include "crowd/nms.h"

namespace crowd {

namespace cpu {
struct Job;      // cpu/frame.hpp
struct Outcome;  // cpu/frame.hpp
}  // namespace cpu
struct DeviceMethod;  // kernels/frames.cuh

struct Greedy {
  static constexpr CrowdNmsMethod value = CROWD_NMS_GREEDY;
  static constexpr char name[] = "greedy";
  static constexpr char description[] =
      "exact: a candidate is suppressed if a surviving better-ranked one overlaps it (Felzenszwalb et al. 2010)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS | CROWD_NMS_READS_MERGE;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct MapReduce {
  static constexpr CrowdNmsMethod value = CROWD_NMS_MAP_REDUCE;
  static constexpr char name[] = "map-reduce";
  static constexpr char description[] =
      "one pass: a candidate is suppressed if any better-ranked one overlaps it (Oro et al. 2020)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS | CROWD_NMS_READS_MERGE;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct Paper {
  static constexpr CrowdNmsMethod value = CROWD_NMS_PAPER;
  static constexpr char name[] = "paper";
  static constexpr char description[] = "Algorithms 1 and 2 of Oro et al. 2020 to the letter, a reference";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_D_MAX;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct SoftLinear {
  static constexpr CrowdNmsMethod value = CROWD_NMS_SOFT_LINEAR;
  static constexpr char name[] = "soft-linear";
  static constexpr char description[] = "lowers scores of what overlaps a survivor by 1 - overlap (Bodla et al. 2017)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS;
  static constexpr bool changes_scores = true;
  static constexpr bool orders_by_new_scores = true;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct SoftGaussian {
  static constexpr CrowdNmsMethod value = CROWD_NMS_SOFT_GAUSSIAN;
  static constexpr char name[] = "soft-gaussian";
  static constexpr char description[] =
      "lowers scores by exp(-overlap^2 / sigma), also where overlaps are small (Bodla et al. 2017)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS | CROWD_NMS_READS_SIGMA;
  static constexpr bool changes_scores = true;
  static constexpr bool orders_by_new_scores = true;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct MatrixLinear {
  static constexpr CrowdNmsMethod value = CROWD_NMS_MATRIX_LINEAR;
  static constexpr char name[] = "matrix-linear";
  static constexpr char description[] =
      "one pass: lowers scores by the worst of better ones' overlaps (Wang et al. 2020)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS;
  static constexpr bool changes_scores = true;
  static constexpr bool orders_by_new_scores = true;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct MatrixGaussian {
  static constexpr CrowdNmsMethod value = CROWD_NMS_MATRIX_GAUSSIAN;
  static constexpr char name[] = "matrix-gaussian";
  static constexpr char description[] = "one pass: as matrix-linear, with exp(-sigma * overlap^2) (Wang et al. 2020)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS | CROWD_NMS_READS_SIGMA;
  static constexpr bool changes_scores = true;
  static constexpr bool orders_by_new_scores = true;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct Nmw {
  static constexpr CrowdNmsMethod value = CROWD_NMS_NMW;
  static constexpr char name[] = "nmw";
  static constexpr char description[] =
      "greedy's survivors, merged with those closest to them (non-maximum weighted, Zhou et al. 2017)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_PAIRS | CROWD_NMS_READS_WEIGHTS;
  static constexpr bool changes_boxes = true;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

struct Wbf {
  static constexpr CrowdNmsMethod value = CROWD_NMS_WBF;
  static constexpr char name[] = "wbf";
  static constexpr char description[] =
      "clusters around their mean, best candidate first (weighted box fusion, Solovyev et al. 2019)";
  static constexpr std::uint32_t reads = CROWD_NMS_READS_RULE | CROWD_NMS_READS_MODELS | CROWD_NMS_READS_WEIGHTS;
  static constexpr bool changes_boxes = true;
  static constexpr bool changes_scores = true;
  static constexpr std::size_t own_bytes = 32;
  static cpu::Outcome on_cpu(const cpu::Job& job);
  static DeviceMethod on_cuda();
};

using Methods = Table<Greedy, MapReduce, Paper, SoftLinear, SoftGaussian, MatrixLinear, MatrixGaussian, Nmw, Wbf>;
static_assert(in_order(Methods{}), "rows are in the order of CrowdNmsMethod");

template <typename Row, typename = void>
constexpr bool has_cpu = false;
template <typename Row>
constexpr bool has_cpu<Row, std::void_t<decltype(&Row::on_cpu)>> = true;

template <typename Row, typename = void>
constexpr bool has_cuda = false;
template <typename Row>
constexpr bool has_cuda<Row, std::void_t<decltype(&Row::on_cuda)>> = true;

template <typename Row, typename = void>
constexpr bool changes_scores = false;
template <typename Row>
constexpr bool changes_scores<Row, std::void_t<decltype(Row::changes_scores)>> = Row::changes_scores;

template <typename Row, typename = void>
constexpr bool orders_by_new_scores = false;
template <typename Row>
constexpr bool orders_by_new_scores<Row, std::void_t<decltype(Row::orders_by_new_scores)>> = Row::orders_by_new_scores;

template <typename Row, typename = void>
constexpr bool changes_boxes = false;
template <typename Row>
constexpr bool changes_boxes<Row, std::void_t<decltype(Row::changes_boxes)>> = Row::changes_boxes;

/// Bytes of workspace a candidate that the CPU backend gives to a method alone.
template <typename Row, typename = void>
constexpr std::size_t own_bytes = 0;
template <typename Row>
constexpr std::size_t own_bytes<Row, std::void_t<decltype(Row::own_bytes)>> = Row::own_bytes;

template <typename... Row>
constexpr std::array<CrowdNmsMethodInfo, sizeof...(Row)> infos(Table<Row...>) {
  constexpr std::uint32_t cpu = 1u << CROWD_NMS_BACKEND_CPU, cuda = 1u << CROWD_NMS_BACKEND_CUDA;
  return {{{Row::name, Row::description, (has_cpu<Row> ? cpu : 0) | (has_cuda<Row> ? cuda : 0), Row::reads,
            changes_scores<Row>, changes_boxes<Row>, orders_by_new_scores<Row>}...}};
}

inline constexpr auto method_infos = infos(Methods{});

/// Of a method that crowd_nms_params_check() took.
inline const CrowdNmsMethodInfo& info_of(CrowdNmsMethod method) {
  return method_infos[method];
}

inline bool reads_rule(const CrowdNmsParams& params) {
  return info_of(params.method).reads & CROWD_NMS_READS_RULE;
}

inline bool reads_pairs(const CrowdNmsParams& params) {
  return info_of(params.method).reads & CROWD_NMS_READS_PAIRS;
}

inline bool reads_d_max(const CrowdNmsParams& params) {
  return info_of(params.method).reads & CROWD_NMS_READS_D_MAX;
}

inline bool reads_merge(const CrowdNmsParams& params) {
  return info_of(params.method).reads & CROWD_NMS_READS_MERGE;
}

}  // namespace crowd
