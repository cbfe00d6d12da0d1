// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Libraries that go by the name of ONNX Runtime: FAKE says which.

struct OrtApi;

extern "C" {

struct OrtApiBase {
  const OrtApi* (*GetApi)(unsigned version);
  const char* (*GetVersionString)();
};

#if defined(FAKE_OLD)
// As all that do not know the version that is asked for.
__attribute__((visibility("default"))) const OrtApiBase* OrtGetApiBase() {
  static const OrtApiBase base = {[](unsigned) -> const OrtApi* { return nullptr; }, [] { return "1.14.1"; }};
  return &base;
}
#elif defined(FAKE_NULL)
__attribute__((visibility("default"))) const OrtApiBase* OrtGetApiBase() {
  return nullptr;
}
#else
__attribute__((visibility("default"))) int something_else() {
  return 0;
}
#endif
}
