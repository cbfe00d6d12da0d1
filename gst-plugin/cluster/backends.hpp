// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which backend of libcrowdnms clusters candidates on the host, and the memory it does it in. Not thread-safe: it
// belongs to a streaming thread.
#pragma once

#include <crowd/nms.h>
#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/candidate_batch.hpp"
#include "cluster/library.hpp"
#include "gpu/device.hpp"
#include "meta/adapter.hpp"

namespace crowd {

enum class BackendChoice { automatic, cuda, cpu };

/// With backend=auto, frames of fewer candidates than this are clustered on the CPU: below it the way to the GPU and
/// back (copy, launch, wait) takes longer than the CPU does. On an H200 and its host a crowd of 500 takes as long on
/// either; boxes that hardly overlap cross over at 250 (tests/bench/bench_crossover.py). Of a batch all candidates
/// count.
constexpr std::uint32_t gpu_crossover = 500;

class Backends {
 public:
  struct Config {
    BackendChoice backend = BackendChoice::automatic;
    CrowdNmsParams params{};  ///< with paper_d_max filled in: calls have a capacity of their own
    std::uint32_t capacity = 0;
  };

  /// What backend=auto made of the GPU. problem() says why.
  enum class GpuOutcome {
    fine,
    refused,  ///< it does not take this frame, which the CPU clustered; the next may be different
    lost      ///< CUDA failed: this frame and later ones are clustered on the CPU
  };

  struct Result {
    meta::Verdict verdict;  ///< lives until the next call
    CrowdNmsReport report{};
    CrowdNmsBackend backend = CROWD_NMS_BACKEND_CPU;
    GstClockTime time = 0;  ///< spent in the library
    GpuOutcome gpu = GpuOutcome::fine;
  };

  /// Both outlive it; no `device` in a build without gst/cuda.
  Backends(CudaDevice* device, const Library& library) : library_(library), device_(device) {}
  ~Backends() {
    close();
  }
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;

  /// Makes what `config` needs, unless it is there. With backend=cuda fails where there is no usable GPU, with
  /// backend=auto goes on without. The reason is in problem(), and run() still does what was prepared last.
  CrowdNmsStatus prepare(const Config& config);
  void close();

  /// Clusters. prepare() must have succeeded for the same config. At most `max_survivors` are handed out.
  CrowdNmsStatus run(const Config& config, const meta::Candidates& candidates, std::uint32_t max_survivors,
                     bool with_representatives, Result& result);

  /// The same for the frames of a batch, at least one, in one call of the library, with a result for each. Memory is
  /// made for the largest batch. The time is shared out; what became of the GPU is in the first result.
  CrowdNmsStatus run_batch(const Config& config, const CandidateBatch& batch, std::uint32_t max_survivors,
                           bool with_representatives, std::span<Result> results);

  const std::string& problem() const {
    return problem_;
  }
  /// Why backend=auto does without the GPU; empty if it does not.
  const std::string& no_gpu_reason() const {
    return no_gpu_reason_;
  }

 private:
  using Session = std::unique_ptr<CrowdNmsSession, decltype(Library::session_free)>;

  /// What sessions depend on: every method fits, but for those that read paper_d_max and those that CUDA lacks.
  struct Shape {
    BackendChoice backend;
    std::uint32_t capacity;
    bool cuda;  ///< it has the method
    bool d_max;
    std::uint32_t paper_d_max;
    std::uint32_t paper_k;
    bool operator==(const Shape&) const = default;
  };

  /// On each backend that there is.
  struct Sessions {
    std::uint32_t frames = 0, capacity = 0;
    Session cpu, gpu;
  };

  /// A call of the library: `total` candidates in all, and the places of results for a frame.
  struct Call {
    CrowdNmsCandidates input;
    CrowdNmsSurvivors output;
    std::size_t total;
  };

  Shape shape_of(const Config& config) const;
  CrowdNmsStatus fail(CrowdNmsStatus status);
  CrowdNmsStatus fail_without_context();
  CrowdNmsStatus fail_for_memory(std::size_t candidates);
  CrowdNmsStatus make(CrowdNmsBackend backend, const Config& config, Sessions& sessions);
  CrowdNmsStatus make_on_gpu(const Config& config, Sessions& sessions);
  Sessions no_sessions(std::uint32_t frames, std::uint32_t capacity) const;
  void free_on_gpu(Session& session);
  bool make_room(std::size_t places);
  CrowdNmsStatus prepare_batch(const Config& config, const CandidateBatch& batch, GpuOutcome& gpu);
  CrowdNmsSurvivors output_of(const Config& config, const CrowdNmsCandidates& input, std::uint32_t max_survivors,
                              bool with_representatives, CrowdNmsReport* reports);
  CrowdNmsStatus run_session(const Config& config, bool on_gpu, const Sessions& sessions, const Call& call,
                             Result& result);
  CrowdNmsStatus run_call(const Config& config, const Sessions& sessions, const Call& call, Result& result);
  void lose_gpu();
  void fill_places(std::size_t begin, std::size_t n, std::span<const std::uint32_t> survivors);
  void fill_verdict(const Call& call, std::size_t frame, std::size_t n, Result& result);

  const Library& library_;
  CudaDevice* device_;
  std::optional<Shape> shape_;
  Sessions one_ = no_sessions(0, 0);
  Sessions many_ = no_sessions(0, 0);  // of batches, once there was one
  std::vector<CrowdNmsReport> reports_;
  std::vector<std::uint32_t> survivors_;
  std::vector<std::uint32_t> members_;
  std::vector<CrowdNmsBox> boxes_;
  std::vector<float> scores_;
  std::vector<std::uint32_t> representatives_;
  std::vector<std::int32_t> places_;
  std::string problem_;
  std::string no_gpu_reason_;
};

}  // namespace crowd
