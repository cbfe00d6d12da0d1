// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "support.hpp"

int main(int argc, char** argv) {
  return crowd::test::run_all_tests(argc, argv);
}
