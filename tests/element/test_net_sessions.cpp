// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which users share a session, with numbers for sessions.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "detect/net/sharedsessions.hpp"

namespace {

using crowd::net::InputShape;
using Sessions = crowd::net::SharedSessions<int>;
using Shared = Sessions::Shared;

constexpr InputShape small = {1, 300, 300}, batch = {10, 300, 300}, large = {1, 640, 480};

class SharedSessions : public testing::Test {
 protected:
  Shared open(const std::string& key = "model") {
    return sessions_.open(key, [this] { return std::make_shared<int>(++made_); });
  }
  bool take(Shared& session, const InputShape& shape) {
    return sessions_.take_shape(session, shape, [this] { return std::make_shared<int>(++made_); });
  }

  Sessions sessions_;
  int made_ = 0;
};

TEST_F(SharedSessions, are_one_for_one_key_while_somebody_has_it) {
  Shared a = open(), b = open(), other = open("other");
  EXPECT_EQ(a, b);
  EXPECT_NE(a, other);
  EXPECT_EQ(made_, 2);
  a.reset();
  b.reset();
  EXPECT_EQ(*open(), 3);
}

TEST_F(SharedSessions, are_shared_by_who_takes_the_same_shape) {
  Shared a = open(), b = open();
  EXPECT_TRUE(take(a, small) && take(b, small));
  Shared c = open();
  EXPECT_TRUE(take(c, small));
  EXPECT_TRUE(a == b && b == c);
  EXPECT_EQ(made_, 1);
}

TEST_F(SharedSessions, are_others_for_other_shapes) {
  Shared a = open(), b = open();
  const Shared first = a;
  EXPECT_TRUE(take(a, small) && take(b, batch));
  EXPECT_EQ(a, first) << "the first to take a shape keeps the session";
  EXPECT_NE(a, b);
  EXPECT_EQ(made_, 2);
  Shared c = open();
  EXPECT_TRUE(take(c, batch));
  EXPECT_EQ(c, b);
  EXPECT_EQ(made_, 2);
}

TEST_F(SharedSessions, take_another_shape_where_they_have_one_user) {
  Shared a = open();
  EXPECT_TRUE(take(a, small) && take(a, batch) && take(a, small));
  EXPECT_EQ(made_, 1);
  Shared b = open();
  EXPECT_TRUE(take(b, small));
  EXPECT_TRUE(take(a, large));
  EXPECT_NE(a, b) << "others keep theirs";
  EXPECT_TRUE(take(b, large));
  EXPECT_EQ(a, b) << "the only user goes to others of the shape";
  EXPECT_EQ(made_, 2);
  Shared other = open("other");
  EXPECT_TRUE(take(other, large));
  EXPECT_NE(other, a);
}

TEST_F(SharedSessions, stay_as_they_are_where_none_can_be_made) {
  const auto none = []() -> Shared { return nullptr; };
  EXPECT_EQ(sessions_.open("broken", none), nullptr);
  Shared a = open(), b = open();
  const Shared first = b;
  EXPECT_TRUE(take(a, small));
  EXPECT_FALSE(sessions_.take_shape(b, batch, none));
  EXPECT_EQ(b, first);
  EXPECT_TRUE(take(b, small));
  EXPECT_EQ(a, b);
}

TEST(SharedSessionsOfThreads, are_made_once) {
  Sessions sessions;
  std::atomic<int> made = 0;
  const auto slowly = [&made] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return std::make_shared<int>(++made);
  };
  std::vector<Shared> all(16);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < all.size(); i++)
    threads.emplace_back([&, i] {
      all[i] = sessions.open("model", slowly);
      EXPECT_TRUE(sessions.take_shape(all[i], i % 2 ? small : batch, slowly));
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(made, 2);
  for (std::size_t i = 2; i < all.size(); i++)
    EXPECT_EQ(all[i], all[i % 2]);
  EXPECT_NE(all[0], all[1]);
}

}  // namespace
