// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// gst-crowd-launch: gst-launch-1.0 for crowds. See gst-crowd-launch --help.

#include <gst/gst.h>

#include <clocale>

#include "options.hpp"
#include "pipeline.hpp"
#include "run.hpp"

namespace {

int launch(const crowd::Options& options) {
  crowd::find_plugins();
  GstElement* pipeline = crowd::parse_pipeline("gst-crowd-launch", options.words);
  if (!pipeline)
    return 1;
  crowd::Run run(pipeline, options);
  if (const auto wrong = run.prepare()) {
    g_printerr("gst-crowd-launch: %s\n", wrong->c_str());
    return 1;
  }
  return options.check ? 0 : run.play();
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  const auto parsed = crowd::parse_options(argc, argv);
  const auto* options = std::get_if<crowd::Options>(&parsed);
  const int status = options ? launch(*options) : std::get<int>(parsed);
  if (gst_is_initialized())
    gst_deinit();
  return status;
}
