// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/engine_rows.hpp"

namespace crowd::net {

std::span<const EngineRow> engines() {
  static const EngineRow rows[] = {
#ifdef CROWD_HAVE_ONNXRUNTIME
      onnxruntime_row(),
#endif
      opencv_row(),
  };
  return rows;
}

}  // namespace crowd::net
