// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The window finders against OpenCV's own calls on the same pictures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/objdetect.hpp>
#include <tuple>

#include "base/keepbest.hpp"
#include "detect/windows.hpp"
#include "pictures.hpp"
#include "support.hpp"

namespace {

using namespace crowd;
using namespace crowd::test;

constexpr char haar[] = "/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml";
constexpr char lbp[] = "/usr/share/opencv4/lbpcascades/lbpcascade_frontalface.xml";

using Row = std::tuple<float, float, float, float, float>;

std::vector<Row> sorted(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Row> sorted(const std::vector<Window>& windows) {
  std::vector<Row> rows;
  for (const Window& w : windows)
    rows.emplace_back(w.x1, w.y1, w.x2, w.y2, w.score);
  return sorted(std::move(rows));
}

std::vector<Row> sorted(const std::vector<cv::Rect>& rects, const std::vector<double>& scores, double zoom = 1) {
  EXPECT_EQ(rects.size(), scores.size());
  std::vector<Row> rows;
  for (std::size_t i = 0; i < rects.size(); i++) {
    const auto scaled = [zoom](int value) { return static_cast<float>(value / zoom); };
    rows.emplace_back(scaled(rects[i].x), scaled(rects[i].y), scaled(rects[i].x + rects[i].width),
                      scaled(rects[i].y + rects[i].height), static_cast<float>(scores[i]));
  }
  return sorted(std::move(rows));
}

std::vector<Window> find(WindowFinder& finder, const cv::Mat& picture, const Search& search) {
  std::vector<Window> windows;
  finder.find(picture, search, windows);
  return windows;
}

struct Hog {
  cv::HOGDescriptor hog;
  std::vector<cv::Rect> rects;
  std::vector<double> scores;

  Hog(const cv::Mat& picture, double hit_threshold, double group_threshold) {
    hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
    // With several threads OpenCV 4.6 may give a window the score of another: windows and scores have a lock each.
    const int threads = cv::getNumThreads();
    cv::setNumThreads(1);
    hog.detectMultiScale(picture, rects, scores, hit_threshold, {8, 8}, {8, 8}, 1.05, group_threshold);
    cv::setNumThreads(threads);
  }
};

// The SVM's own windows at OpenCV's own size.
const Search plain = {.hit_threshold = 0, .min_size = 128, .body = false};

TEST(people_windows, are_opencvs_before_grouping) {
  const cv::Mat picture = picture_of_people();
  const Hog raw(picture, 0, 0);
  const Hog grouped(picture, 0, 2);
  const auto windows = find(*make_people_finder(), picture, plain);
  EXPECT_GT(windows.size(), 20u);
  EXPECT_EQ(sorted(windows), sorted(raw.rects, raw.scores));
  EXPECT_LT(grouped.rects.size(), windows.size() / 3);
}

TEST(people_windows, stay_the_same_when_the_finder_is_used_again) {
  const auto finder = make_people_finder();
  const auto first = find(*finder, picture_of_people(), plain);
  EXPECT_TRUE(find(*finder, cv::Mat(480, 640, CV_8U, cv::Scalar(90)), plain).empty());
  EXPECT_EQ(find(*finder, picture_of_people(), plain), first);
}

TEST(people_windows, smaller_than_opencvs_come_from_an_enlarged_image) {
  const cv::Mat picture = picture_of_people();
  cv::Mat enlarged;
  cv::resize(picture, enlarged, {}, 2, 2, cv::INTER_LINEAR);
  Search search = plain;
  search.min_size = 64;
  const Hog raw(enlarged, 0, 0);
  EXPECT_EQ(sorted(find(*make_people_finder(), picture, search)), sorted(raw.rects, raw.scores, 2));
}

TEST(people_windows, keep_to_the_sizes_asked_for) {
  const auto heights = [](const Search& search) {
    std::vector<float> all;
    for (const Window& w : find(*make_people_finder(), picture_of_people(), search))
      all.push_back(w.y2 - w.y1);
    return all;
  };
  Search search = plain;
  EXPECT_THAT(heights(search), testing::Contains(testing::Gt(240)));
  search.max_size = 180;
  EXPECT_THAT(heights(search), testing::AllOf(testing::Each(testing::Le(180.5F)), testing::Contains(testing::Gt(160))));
  search = plain;
  search.min_size = 180;
  EXPECT_THAT(heights(search), testing::AllOf(testing::Each(testing::Ge(179.5F)), testing::Contains(testing::Gt(240))));
  search.max_size = 100;
  EXPECT_THAT(heights(search), testing::IsEmpty());
}

TEST(people_windows, shrink_to_the_body) {
  Search search = plain;
  const auto whole = find(*make_people_finder(), picture_of_people(), search);
  search.body = true;
  const auto body = find(*make_people_finder(), picture_of_people(), search);
  ASSERT_EQ(body.size(), whole.size());
  for (std::size_t i = 0; i < body.size(); i++) {
    EXPECT_FLOAT_EQ(body[i].x2 - body[i].x1, (whole[i].x2 - whole[i].x1) * 5 / 8);
    EXPECT_FLOAT_EQ(body[i].y2 - body[i].y1, (whole[i].y2 - whole[i].y1) * 3 / 4);
    EXPECT_FLOAT_EQ(body[i].x1 + body[i].x2, whole[i].x1 + whole[i].x2);
    EXPECT_FLOAT_EQ(body[i].y1 + body[i].y2, whole[i].y1 + whole[i].y2);
    EXPECT_EQ(body[i].score, whole[i].score);
  }
}

TEST(people_windows, best_body_is_the_drawn_person) {
  const auto windows = find(*make_people_finder(), picture_of_people(), {.min_size = 128});
  ASSERT_FALSE(windows.empty());
  std::vector<Window> first;
  std::copy_if(windows.begin(), windows.end(), std::back_inserter(first), [](const Window& w) { return w.x2 < 220; });
  const auto best = std::max_element(first.begin(), first.end(), [](auto& a, auto& b) { return a.score < b.score; });
  ASSERT_NE(best, first.end());
  EXPECT_NEAR((best->x1 + best->x2) / 2, 150, 8);
  EXPECT_NEAR(best->y1, 194, 12);
  EXPECT_NEAR(best->y2, 290, 12);
}

TEST(windows, do_not_depend_on_the_number_of_threads) {
  const int before = cv::getNumThreads();
  const auto people = make_people_finder();
  const auto faces = make_cascade_finder(lbp);
  ASSERT_NE(faces, nullptr);
  // More first: TBB does not raise a limit once it is set.
  std::vector<std::vector<Window>> many;
  for (int run = 0; run < 5; run++) {
    cv::setNumThreads(8);
    many.push_back(find(*people, picture_of_people(), plain));
    many.push_back(find(*faces, picture_of_noise(), {}));
  }
  cv::setNumThreads(1);
  const auto people_alone = find(*people, picture_of_people(), plain);
  const auto faces_alone = find(*faces, picture_of_noise(), {});
  cv::setNumThreads(before);
  for (std::size_t run = 0; run < many.size(); run++)
    EXPECT_EQ(many[run], run % 2 ? faces_alone : people_alone) << run;
}

TEST(people_windows, have_their_own_scores_on_every_run) {
  const auto finder = make_people_finder();
  Search search = plain;
  search.scale_factor = 1.2;
  const auto first = find(*finder, picture_of_people(), search);
  for (int run = 0; run < 100; run++)
    ASSERT_EQ(find(*finder, picture_of_people(), search), first) << run;
}

TEST(windows, go_from_small_to_large_and_top_to_bottom) {
  const auto windows = find(*make_people_finder(), picture_of_people(), plain);
  const auto key = [](const Window& w) { return std::tuple(w.y2 - w.y1, w.y1, w.x1); };
  EXPECT_TRUE(std::is_sorted(windows.begin(), windows.end(), [key](auto& a, auto& b) { return key(a) < key(b); }));
}

TEST(windows, images_below_the_smallest_window_hold_none) {
  for (const char* path : {"", haar, lbp}) {
    const auto finder = *path ? make_cascade_finder(path) : make_people_finder();
    ASSERT_NE(finder, nullptr) << path;
    for (const cv::Size size : {cv::Size(1, 1), {2, 300}, {300, 2}, {23, 23}, {43, 87}, {44, 87}, {43, 88}})
      EXPECT_TRUE(find(*finder, cv::Mat(size, CV_8U, cv::Scalar(7)), {}).empty()) << path << size;
    EXPECT_TRUE(find(*finder, cv::Mat(128, 64, CV_8U, cv::Scalar(7)), {}).empty()) << path;
  }
}

TEST(windows, are_not_sought_in_monstrous_enlargements) {
  const cv::Mat picture(480, 640, CV_8U, cv::Scalar(7));
  EXPECT_THROW(find(*make_people_finder(), picture, {.min_size = 1}), cv::Exception);
  EXPECT_THROW(find(*make_cascade_finder(lbp), picture, {.min_size = 1}), cv::Exception);
}

class cascade_windows : public testing::TestWithParam<const char*> {};

TEST_P(cascade_windows, are_opencvs_before_grouping) {
  const cv::Mat picture = picture_of_noise();
  cv::CascadeClassifier cascade(GetParam());
  std::vector<cv::Rect> raw, grouped;
  cascade.detectMultiScale(picture, raw, 1.05, 0);
  cascade.detectMultiScale(picture, grouped, 1.05, 3);
  const auto windows = find(*make_cascade_finder(GetParam()), picture, {});
  EXPECT_GT(windows.size(), 30u);
  std::vector<Row> boxes;
  for (const Window& w : windows)
    boxes.emplace_back(w.x1, w.y1, w.x2, w.y2, 0.F);
  EXPECT_EQ(sorted(boxes), sorted(raw, std::vector<double>(raw.size())));
  EXPECT_LT(grouped.size(), windows.size() / 3);
}

TEST_P(cascade_windows, are_scored_by_the_last_stage) {
  const cv::Mat picture = picture_of_noise();
  cv::CascadeClassifier cascade(GetParam());
  std::vector<cv::Rect> rects;
  std::vector<int> levels;
  std::vector<double> scores;
  cascade.detectMultiScale(picture, rects, levels, scores, 1.05, 0, 0, {}, {}, true);
  EXPECT_EQ(sorted(find(*make_cascade_finder(GetParam()), picture, {})), sorted(rects, scores));
}

TEST_P(cascade_windows, keep_to_the_sizes_asked_for) {
  const auto finder = make_cascade_finder(GetParam());
  const Search search = {.min_size = 40, .max_size = 60};
  const auto windows = find(*finder, picture_of_noise(), search);
  EXPECT_FALSE(windows.empty());
  for (const Window& w : windows)
    EXPECT_TRUE(w.y2 - w.y1 >= 40 && w.y2 - w.y1 <= 60) << w.y2 - w.y1;
  cv::Mat small;
  cv::resize(picture_of_noise(), small, {}, 0.5, 0.5, cv::INTER_AREA);
  const auto tiny = find(*finder, small, {.min_size = 12, .max_size = 20});
  EXPECT_FALSE(tiny.empty());
  for (const Window& w : tiny)
    EXPECT_TRUE(w.y2 - w.y1 >= 12 && w.y2 - w.y1 <= 20) << w.y2 - w.y1;
}

INSTANTIATE_TEST_SUITE_P(faces, cascade_windows, testing::Values(haar, lbp));

TEST(best_windows, are_kept_in_their_order) {
  const std::vector<Window> all = {{0, 0, 1, 1, .5F}, {1, 0, 2, 1, .9F}, {2, 0, 3, 1, .1F}, {3, 0, 4, 1, .5F}};
  auto kept = all;
  keep_best(kept, 4);
  EXPECT_EQ(kept, all);
  keep_best(kept, 3);
  EXPECT_EQ(kept, (std::vector<Window>{all[0], all[1], all[3]}));
  keep_best(kept, 2);
  EXPECT_EQ(kept, (std::vector<Window>{all[0], all[1]}));
  keep_best(kept, 1);
  EXPECT_EQ(kept, (std::vector<Window>{all[1]}));
}

TEST(cascade_files, that_are_none_make_no_finder) {
  const auto fails = [](const char* path) {
    try {
      return make_cascade_finder(path) == nullptr;
    } catch (const cv::Exception&) {
      return true;
    }
  };
  EXPECT_TRUE(fails("/nonexistent.xml"));
  EXPECT_TRUE(fails("/etc/passwd"));
  EXPECT_FALSE(fails(haar));
}

}  // namespace
