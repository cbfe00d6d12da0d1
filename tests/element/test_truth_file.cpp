// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "inject/scene/truth_file.hpp"
#include "temporary_file.hpp"

namespace {

using namespace crowd::scene;

TEST(truth_file, writes_each_frame_once_as_mot_lines) {
  const std::string path = crowd::test::temporary_path(".txt");
  TruthFile file(path);
  ASSERT_TRUE(file.ok()) << file.error();
  const std::vector<TrueObject> objects = {{7, 2, {0.5f, 10, 20.75f, 31}}, {9, 0, {1e6f, 0.1f, 1000001, 2}}};
  EXPECT_TRUE(file.write(0, objects));
  EXPECT_TRUE(file.write(3, {objects.data(), 1}));
  EXPECT_TRUE(file.write(3, objects));
  EXPECT_TRUE(file.write(1, objects));
  EXPECT_TRUE(file.close());
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, "1,7,0.5,10,20.25,21,1,3,1\n1,9,1000000,0.1,1,1.9,1,1,1\n4,7,0.5,10,20.25,21,1,3,1\n");
}

TEST(truth_file, says_why_it_cannot_write) {
  TruthFile missing("/nowhere/at/all.txt");
  EXPECT_FALSE(missing.ok());
  EXPECT_EQ(missing.error(), "No such file or directory");
  EXPECT_FALSE(missing.write(0, std::vector<TrueObject>{{1, 0, {0, 0, 1, 1}}}));

  TruthFile full("/dev/full");
  ASSERT_TRUE(full.ok());
  const std::vector<TrueObject> many(1000, TrueObject{1, 0, {0, 0, 1, 1}});
  EXPECT_FALSE(full.write(0, many) && full.flush());
  EXPECT_EQ(full.error(), "No space left on device");
  EXPECT_FALSE(full.close());
}

}  // namespace
