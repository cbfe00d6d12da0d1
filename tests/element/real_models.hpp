// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Models that pipelines/fetch-model can fetch. CROWD_SOURCES, of the compiler, is the folder of this checkout.
#pragma once

#include <cstdio>
#include <string>

namespace crowd::test {

/// What a script of pipelines/ prints; empty where it fails, with the reason on the standard error output.
inline std::string printed_by(const std::string& script) {
  const std::string folder = CROWD_SOURCES;
  std::FILE* const pipe =
      popen(("CROWD_CACHE=${CROWD_CACHE:-'" + folder + "/.cache'} '" + folder + "/pipelines/'" + script).c_str(), "r");
  std::string text(4096, '\0');
  if (pipe)
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
  return pipe && pclose(pipe) == 0 && !text.empty() ? text.substr(0, text.size() - 1) : "";
}

}  // namespace crowd::test
