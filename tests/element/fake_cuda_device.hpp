// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A CUDA context in place of a real one, to which all memories belong.
#pragma once

#include <string>

#include "gpu/device.hpp"

namespace crowd::test {

class FakeCudaDevice final : public CudaDevice {
 public:
  bool is_dead = false;  ///< the driver refuses it

  bool open(GstElement*, int, std::string&) override {
    return true;
  }
  void close() override {}
  void set_context(GstElement*, GstContext*, int) override {}
  bool answer(GstElement*, GstQuery*) override {
    return false;
  }
  bool owns(GstMemory*) const override {
    return true;
  }

 protected:
  Pushed push() override {
    return is_dead ? Pushed::refused : Pushed::yes;
  }
  void pop() override {}
  bool adopt(GstMemory*, int, std::string&) override {
    return true;
  }
};

}  // namespace crowd::test
