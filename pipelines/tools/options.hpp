// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace crowd {

/** A property that goes round a list of values while the pipeline runs: `--set NAME.PROPERTY=V1,V2,...`. */
struct Sweep {
  std::string element;
  std::string property;
  std::vector<std::string> values;
};

struct Options {
  std::vector<Sweep> sweeps;
  double every_seconds = 1.0;      // time between two values of a sweep; not used if every_frames > 0
  std::uint64_t every_frames = 0;  // frames between two values of a sweep
  double from_seconds = 0.0;       // where in the stream to begin
  double to_seconds = 0.0;         // where to end; 0: at its end
  std::uint64_t frames = 0;        // end the stream after so many frames of crowdnms; 0: at its end
  bool check = false;              // make the pipeline, but do not play it
  bool quiet = false;              // no line a second
  std::vector<std::string> words;  // the pipeline description, one shell word each
};

/** `NAME.PROPERTY=V1,V2,...`, or nothing if the text is something else. */
std::optional<Sweep> parse_sweep(const std::string& text);

/** What the command line asks for, or the exit status where there is nothing to run: 0 after --help, 2 if it is wrong.
 *  Initialises GStreamer. */
std::variant<Options, int> parse_options(int argc, char** argv);

}  // namespace crowd
