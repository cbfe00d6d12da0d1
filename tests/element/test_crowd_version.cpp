// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/crowd/gstcrowdversion.h>
#include <gtest/gtest.h>

#include <string>

namespace {

TEST(version, of_headers_and_library_is_one_here) {
  guint major, minor, micro;
  gst_crowd_version(&major, &minor, &micro);
  EXPECT_EQ(major, guint{GST_CROWD_VERSION_MAJOR});
  EXPECT_EQ(minor, guint{GST_CROWD_VERSION_MINOR});
  EXPECT_EQ(micro, guint{GST_CROWD_VERSION_MICRO});
  EXPECT_EQ(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(micro), PROJECT_VERSION);
  EXPECT_TRUE(GST_CROWD_CHECK_VERSION(GST_CROWD_VERSION_MAJOR, GST_CROWD_VERSION_MINOR, GST_CROWD_VERSION_MICRO));
  EXPECT_FALSE(GST_CROWD_CHECK_VERSION(GST_CROWD_VERSION_MAJOR, GST_CROWD_VERSION_MINOR, GST_CROWD_VERSION_MICRO + 1));
  EXPECT_FALSE(GST_CROWD_CHECK_VERSION(GST_CROWD_VERSION_MAJOR, GST_CROWD_VERSION_MINOR + 1, 0));
  EXPECT_FALSE(GST_CROWD_CHECK_VERSION(GST_CROWD_VERSION_MAJOR + 1, 0, 0));
  EXPECT_TRUE(GST_CROWD_CHECK_VERSION(0, 0, 1000));
}

}  // namespace
