// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which kind of metadata the objects of a frame are read from where several carry them.

#include <gmock/gmock.h>

#include "meta/objects.hpp"
#include "support.hpp"

namespace {

using namespace crowd::meta;
using testing::IsEmpty;
using testing::SizeIs;

/// Finds so many survivors and candidates, and has this problem.
class Fake final : public ObjectReader {
 public:
  Fake(unsigned survivors, unsigned candidates, const char* problem)
      : survivors_(survivors), candidates_(candidates), problem_(problem) {}

  void read(GstBuffer*, const ShownSize&, Objects& objects) override {
    EXPECT_TRUE(objects.empty() && !objects.problem);
    objects.survivors.resize(survivors_);
    objects.candidates.resize(candidates_);
    objects.problem = problem_;
  }

 private:
  unsigned survivors_, candidates_;
  const char* problem_;
};

Objects read(const Fake& last_row, const Fake& first_row) {
  std::vector<std::unique_ptr<ObjectReader>> fakes;
  fakes.push_back(std::make_unique<Fake>(last_row));
  fakes.push_back(std::make_unique<Fake>(first_row));
  ObjectReaders readers(std::move(fakes));
  Objects objects;
  objects.survivors.resize(7);  // of the frame before
  objects.problem = "of the frame before";
  readers.read(nullptr, {64, 64}, objects);
  return objects;
}

TEST(objects, of_the_last_row_that_has_any_are_taken) {
  EXPECT_THAT(read({2, 1, nullptr}, {3, 0, nullptr}).survivors, SizeIs(2));
  EXPECT_THAT(read({0, 1, nullptr}, {3, 0, nullptr}).survivors, IsEmpty());
  EXPECT_THAT(read({0, 0, nullptr}, {3, 4, nullptr}).candidates, SizeIs(4));
}

TEST(objects, without_a_problem_are_preferred) {
  const Objects objects = read({0, 2, "no marks"}, {2, 0, nullptr});
  EXPECT_THAT(objects.survivors, SizeIs(2));
  EXPECT_EQ(objects.problem, nullptr);
  EXPECT_STREQ(read({0, 2, "no marks"}, {0, 0, nullptr}).problem, "no marks");
  EXPECT_STREQ(read({0, 2, "no marks"}, {1, 0, "other frame"}).problem, "no marks");
}

/// Is not to be asked.
class Unasked final : public ObjectReader {
 public:
  void read(GstBuffer*, const ShownSize&, Objects&) override {
    ADD_FAILURE();
  }
};

TEST(objects, of_other_kinds_are_not_read_once_there_are_some) {
  std::vector<std::unique_ptr<ObjectReader>> fakes;
  fakes.push_back(std::make_unique<Fake>(1, 0, nullptr));
  fakes.push_back(std::make_unique<Unasked>());
  Objects objects;
  ObjectReaders(std::move(fakes)).read(nullptr, {64, 64}, objects);
  EXPECT_THAT(objects.survivors, SizeIs(1));
}

TEST(objects, that_were_lost_are_no_problem_where_another_kind_has_them) {
  EXPECT_EQ(read({0, 0, "lost"}, {1, 0, nullptr}).problem, nullptr);
  const Objects objects = read({0, 0, "lost"}, {0, 0, nullptr});
  EXPECT_STREQ(objects.problem, "lost");
  EXPECT_TRUE(objects.empty());
  EXPECT_STREQ(read({0, 0, nullptr}, {0, 0, "other frame"}).problem, "other frame");
}

}  // namespace
