// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A frame on its way through crowdnms.
#pragma once

#include <crowd/nms.h>
#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

#include "cluster/backends.hpp"
#include "cluster/settings.hpp"
#include "meta/adapter.hpp"

namespace crowd {

class Clusterer;

/// What became of a frame that was begun or finished.
struct [[nodiscard]] FrameReport {
  enum class Outcome {
    done,
    broken,             ///< its candidates cannot be read; it goes on without them
    refused,            ///< the device does not cluster with these properties
    failed,             ///< the library failed
    gpu_failed,         ///< CUDA failed
    gpu_out_of_memory,  ///< the device has no memory left
    no_memory,          ///< there is none for the metadata of survivors
  };
  Outcome outcome = Outcome::done;
  std::string problem;  ///< why it is not done

  bool is_done() const {
    return outcome == Outcome::done;
  }
};

/// From NmsStream::begin() to finish().
struct Frame {
  struct UnrefLabels {
    void operator()(GPtrArray* labels) const {
      g_ptr_array_unref(labels);
    }
  };

  NmsSettings settings;
  Backends::Config config{};  ///< that it is clustered with, which later settings leave alone
  meta::FrameSize size;
  const meta::Kind* source = nullptr;                     ///< of its candidates; null if it has none
  std::optional<meta::DeviceCandidates> on_device{};      ///< where they lie if they are clustered there
  Clusterer* clusterer = nullptr;                         ///< null: there was nothing to cluster
  bool left_on_device = false;                            ///< survivors are written to device memory, for downstream
  bool awaited = false;                                   ///< survivors go from the device to the host
  std::unique_ptr<GPtrArray, UnrefLabels> kept_labels{};  ///< of `on_device`, where survivors are awaited

  const meta::AdapterRow* left_out = nullptr;  ///< meta-output=auto did not write it: there are too many objects
  bool is_batch = false;                       ///< the buffer is no frame; those in it are done
  std::uint32_t nan_candidates = 0;            ///< whose density or features, if the rule reads them, are NaN
  std::uint32_t unknown_models = 0;            ///< candidates of models that have no weight, if they are read
  bool broken = false;                         ///< candidates were lost, or cannot be read
  std::optional<Backends::Result> result{};    ///< once it is known on the host
};

}  // namespace crowd
