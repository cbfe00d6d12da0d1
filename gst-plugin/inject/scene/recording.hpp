// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * Recorded candidates, kept in memory (24 bytes a candidate, 80 and its feature where more is known of any) and looked
 * up by frame. Reading takes time linear in the bytes of the file, whatever they are, and besides the candidates some
 * 10 times the memory of the longest line.
 *
 * MOTChallenge det.txt, one candidate a line:
 *
 *     frame,id,left,top,width,height,conf[,x,y,z]
 *
 * 7 to 10 columns, separated by commas; blanks around them do not matter. The first frame is 1, lines come in any
 * order, and within a frame their order is kept. left, top, width and height are pixels and become left, top,
 * left + width, top + height. The id must be a number, the columns after conf are not looked at.
 *
 * JSON lines, one frame a line, which is what gst-crowd-read-survivors prints:
 *
 *     {"frame": 0, "pts": 0, "resolution": {"width": 1920, "height": 1080}, "objects": [
 *       {"box": [x1, y1, x2, y2], "score": 0.9, "class": 0, "label": "person", "members": 7}, ...]}
 *
 * (without the line break). "frame" counts from 0; without it a line is the frame after the line before. "resolution"
 * is the frame that the pixels refer to, the same on every line that gives it; if none does, they refer to the frame
 * they are put on. "box" is pixels, in floats. "score" is 1 where missing. "class" is a number from 0 to max_class;
 * a "label" names it, and a label without a class gets the next free one. "density", "proposal" (a whole number below
 * 2^32), "visible-box" (corners, as "box") and "feature" (1 to 4096 numbers) are what rules of crowdnms read, "model"
 * (a whole number from 0 to max_model) what its model-weights does: each is there in all objects of a line or in none,
 * features of one length. An object may instead be one of DL Streamer's
 * gvametaconvert: {"x", "y", "w", "h", "detection": {"confidence", "label_id", "label"}}; and a line with a
 * "resolution" may lack "objects", which is a frame without any. Other members, "pts" and "members" among them, are not
 * looked at. Several lines of one frame add up, and of what crowdnms reads what all of its candidates have is left.
 *
 * A line is one JSON object (RFC 8259, UTF-8) with at most 32 arrays and objects in each other and nothing behind it. A
 * member of the above may be there once, others may be repeated. Numbers may have any number of digits. Refused are, as
 * lines that do not fit: what gst-crowd-read-survivors printed before it knew this form ("survivors" in place of
 * "objects", or a "confidence" without a "score" beside "box"), since its boxes are x, y, width, height. Refused as a
 * whole, also without strict: a file that begins with a bracket, an array, which `jq -c '.[]'` makes lines of.
 *
 * In both formats blank lines are nothing, lines end in LF or CRLF, a number too small for a double is 0, a finite one
 * too large for a float does not fit, and boxes with odd values (NaN and infinite in MOTChallenge files, negative
 * sizes) are candidates like others: judging them is the NMS's business. A line that does not fit the format is skipped
 * as a whole and counted or, if strict, ends the reading.
 */

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/scene/detections.hpp"

namespace crowd::scene {

/** automatic: JSON lines if the first character that is no blank is a brace or a bracket. */
enum class Format { automatic, mot, jsonl };

/** The maxima of the frame numbers and of the classes of a recording. */
constexpr std::int64_t max_frame = 0x7fffffff;
constexpr std::int32_t max_class = 0xffff;

/** The maximum of the models of a recording: all that can have a weight. */
constexpr std::uint8_t max_model = 15;

/** Of the numbers of a feature. */
constexpr std::size_t max_feature_length = 4096;

/** The number of bytes that are read of a file at most, a pipe too: 1 GiB. What has more is refused. */
constexpr std::uint64_t max_file_bytes = std::uint64_t{1} << 30;

/** What is wrong with a line, in words that name the remedy. Lines count from 1. */
struct BadLine {
  std::uint64_t line;
  std::string reason;
};

/** What was recorded of a frame. Numbers count from 0, in both formats. */
struct RecordedFrame {
  std::uint64_t number;
  std::size_t first, count;
};

class Recording {
 public:
  /** The candidates of that frame, none if nothing was recorded of it. O(log frames). */
  CandidatesView frame(std::uint64_t number) const;
  /** Those of the first frame that has any; none if no frame has. O(frames). */
  CandidatesView first_candidates() const;
  /** The last frame's number + 1; 0 if there is none. */
  std::uint64_t length() const {
    return frames_.empty() ? 0 : frames_.back().number + 1;
  }
  /** Candidates in all. */
  std::size_t size() const {
    return candidates_.size();
  }
  /** The frame that the boxes refer to; 0 x 0 if the file does not say. */
  Size resolution() const {
    return resolution_;
  }
  /** Name of each class; empty if the file names none. */
  const std::vector<std::string>& labels() const {
    return labels_;
  }
  std::uint64_t skipped_lines() const {
    return skipped_lines_;
  }
  const std::optional<BadLine>& first_skipped() const {
    return first_skipped_;
  }

 private:
  friend class RecordingBuilder;
  CandidateList candidates_;
  std::vector<RecordedFrame> frames_; /**< by number */
  Size resolution_{0, 0};
  std::vector<std::string> labels_;
  std::uint64_t skipped_lines_ = 0;
  std::optional<BadLine> first_skipped_;
};

struct ReadFailure {
  enum class Cause { not_found, unreadable, malformed } cause;
  std::string message; /**< one sentence or two: file, line, reason, remedy */
};

/**
 * Reads a file or a pipe. Fails if it cannot be read, if it is larger than max_file_bytes (a file before anything of it
 * is read), if it has lines but not one of them fits, or, if strict, at the first line that does not fit. An empty file
 * is a recording of nothing. Throws std::bad_alloc.
 */
std::optional<Recording> read_recording(const std::string& path, Format format, bool strict, ReadFailure& failure);

/** The same for a text in memory of any bytes and any size; `path` is used in messages only. */
std::optional<Recording> parse_recording(std::string_view text, const std::string& path, Format format, bool strict,
                                         ReadFailure& failure);

}  // namespace crowd::scene
