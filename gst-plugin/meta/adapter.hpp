// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How crowdnms reads candidates from, and writes survivors to, the metadata of a buffer. One flavour of metadata is one
// Adapter in one file and one row in adapters.cpp; the element's `meta-source` and `meta-output` values, its ALLOCATION
// answer and its automatic choice come from the rows. Elements never name a meta type.
//
// A frame goes: probe(), read(), NMS, then in the order of the rows write() of each output, but for the source:
// rewrite() if that is an output and it can, else after its write() (mode replace) take_off(); release() ends it in
// every case.
//
// Candidates in device memory may stay there: on_device(), NMS, write_on_device(), remove().
#pragma once

#include <crowd/nms.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/confidence.hpp"
#include "base/memorypool.hpp"
#include "lib/gstcrowdboxesplacement.hpp"
#include "meta/objects.hpp"

namespace crowd::meta {

/// Pixels; 0 x 0 where the caps do not say.
struct FrameSize {
  guint width = 0;
  guint height = 0;
  /// Shape of a pixel, width over height.
  gint par_n = 1, par_d = 1;
  /// What scalers upstream do where the aspect ratio changes.
  GstCrowdBoxesBorders borders = GST_CROWD_BOXES_BORDERS_UNKNOWN;

  bool known() const {
    return width > 0 && height > 0;
  }
};

/// What the boxes of a frame mean.
struct BoxesInfo {
  FrameSize frame;  ///< that the boxes are on: that of the buffer where its size is known
  GstCrowdBoxesPlacement placement = identity_placement;  ///< from coordinates to pixels of `frame`
  Calibration calibration{};                              ///< from scores to confidences
  GPtrArray* labels = nullptr;                            ///< names of the classes, may be null
  bool labels_are_all = false;                            ///< no class has a number beyond those of the labels
  /// Rectangles of whole pixels end at the frame's edges; else only where their metadata cannot say more.
  bool clip = true;
};

/// The candidates of one frame: three arrays of equal length, and more where the metadata has them, which live until
/// release().
struct Candidates {
  std::span<const CrowdNmsBox> boxes;
  std::span<const float> scores;
  std::span<const std::int32_t> classes;
  std::uint32_t count = 0;  ///< as the producer said; what exceeds the arrays was never looked at
  BoxesInfo info;
  std::span<const GQuark> names{};  ///< of each one's class, where classes are not places in `info.labels`; else empty
  std::span<const float> densities{};
  std::span<const std::uint32_t> proposals{};
  std::span<const CrowdNmsBox> visible{};    ///< in the coordinates of `boxes`
  std::span<const float> features{};         ///< feature_length of each candidate, one candidate after the other
  std::span<const std::uint32_t> models{};   ///< which model found it
  guint arrays = GST_CROWD_BOXES_NO_ARRAYS;  ///< which of these there are, as bits of GstCrowdBoxesArrays
  guint feature_length = 0;
};

/// The candidates of one frame in device memory, their number included.
struct DeviceCandidates {
  GstMemory* memory = nullptr;  ///< in GstCrowdBoxesLayout order; belongs to the buffer's metadata
  guint capacity = 0;
  BoxesInfo info;
  guint arrays = GST_CROWD_BOXES_NO_ARRAYS;  ///< as above
  guint feature_length = 0;

  BoxesShape shape() const {
    return {capacity, arrays, feature_length};
  }
};

/// The place of a candidate that is not among the survivors.
enum Place : std::int32_t {
  place_suppressed = -1,  ///< valid, but represented by another one, or max-detections was reached
  place_rejected = -2     ///< invalid or below the score threshold
};

/// What NMS made of the candidates.
struct Verdict {
  std::span<const std::uint32_t> survivors;  ///< indices of candidates in rank order
  std::span<const std::uint32_t> members;    ///< of each survivor, itself included
  /// Of each survivor, where they are not its own; else empty. By the time adapters get them, those of the candidates
  /// are the new ones.
  std::span<const CrowdNmsBox> boxes{};
  std::span<const float> scores{};
  std::span<const std::uint32_t> representatives{};  ///< of each candidate; empty unless it was asked for
  std::span<const std::int32_t> places{};  ///< of each candidate: its index in `survivors`, or a Place; empty likewise
};

/// What links the objects that one kind leaves for candidates to those of another: they have the same ids.
struct ObjectIds {
  std::vector<int> after{};    ///< of each candidate, -1 for none; empty: no kind has given them ids
  std::vector<bool> paired{};  ///< candidates whose regions of interest have been marked or dropped; empty: none

  void clear() {
    after.clear();
    paired.clear();
  }
};

enum class Mode {
  replace,  ///< candidates are gone afterwards, survivors are left
  annotate  ///< candidates stay, each says whether it survives
};

class Adapter {
 public:
  virtual ~Adapter() = default;

  /// Whether the buffer carries this flavour.
  virtual bool probe(GstBuffer* buffer) const = 0;

  /// Reads at most `limit` candidates. False if the metadata is broken; `problem` then says how, and how to mend it.
  virtual bool read(GstBuffer* buffer, FrameSize size, std::uint32_t limit, Candidates& candidates,
                    const char*& problem) = 0;

  /// Where the candidates lie, if that is device memory and they can be read; read() says why they cannot.
  virtual std::optional<DeviceCandidates> on_device(GstBuffer*, FrameSize) const {
    return std::nullopt;
  }

  /// Whether candidates of this flavour were attached to the frame and dropped on the way.
  virtual bool lost(GstBuffer*) const {
    return false;
  }

  /// Takes the candidates off the buffer, broken or not.
  virtual void remove(GstBuffer* buffer) = 0;

  /// Lets go of the arrays that read() handed out. Called once after every read().
  virtual void release() = 0;

  /// Whether rewrite() does anything.
  virtual bool edits() const {
    return false;
  }

  /// Whether rewrite(), or else take_off(), needs representatives and places even in mode replace.
  virtual bool needs_representatives(bool /*rewritten*/) const {
    return false;
  }

  /// Edits in place what read() read: objects of survivors stay the objects they are.
  virtual void rewrite(GstBuffer*, const Candidates&, const Verdict&, Mode, ObjectIds&) {}

  /// Takes what read() read off the buffer, survivors included.
  virtual void take_off(GstBuffer* buffer, const Candidates&, const Verdict&, ObjectIds&) {
    remove(buffer);
  }

  /// Attaches an object for each survivor in rank order, or (mode annotate) for each candidate that is not rejected.
  /// False if there is no memory for them.
  [[nodiscard]] virtual bool write(GstBuffer*, FrameSize, const Candidates&, const Verdict&, Mode, ObjectIds&) {
    return true;
  }

  /// Attaches survivors that lie in device memory, in the layout of candidates.
  virtual void write_on_device(GstBuffer*, const BoxesInfo&, MemoryRef /*survivors*/, guint /*capacity*/) {}
};

/// Values of the properties meta-source and meta-output: these two, and those that the rows have. They are part of the
/// API: none is ever changed, or used for another kind.
enum class KindId : int {
  automatic = 0,
  all = 1  ///< of meta-output
};

struct AdapterRow {
  KindId id;                ///< from 2 on
  const char* nick;         ///< value of the properties meta-source and meta-output
  const char* description;  ///< for gst-inspect-1.0
  bool writes;              ///< whether write() does anything
  bool standard;            ///< whether elements of other projects read it: survivors leave as it with meta-output=auto
  GType (*api)();           ///< of the metadata
  void (*advertise)(GstQuery*, bool on_device);  ///< see advertise_candidates()
  const char* on_device;  ///< what downstream says there if it reads survivors in device memory; null if none can
  std::unique_ptr<Adapter> (*make)();
  /// See objects.hpp; null: elements read this kind themselves.
  std::unique_ptr<ObjectReader> (*make_reader)() = nullptr;
  /// Of objects on a frame. Where there are more, meta-output=auto does not write this kind, for what it costs.
  std::size_t max_automatic = SIZE_MAX;
};

/// A row with an adapter of a reader's own.
struct Kind {
  const AdapterRow* row;
  std::unique_ptr<Adapter> adapter;
};

/// In the order in which meta-source=auto looks for candidates.
std::span<const AdapterRow> adapter_rows();

/// Of this nick, which a row of this build has.
const AdapterRow& row_named(std::string_view nick);

/// Says in an ALLOCATION query what crowdnms reads, in device memory as well if `on_device`.
void advertise_candidates(GstQuery* query, bool on_device);

}  // namespace crowd::meta
