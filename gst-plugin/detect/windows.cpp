// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/windows.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <tuple>

namespace crowd {

namespace {

// A window of the zoomed image.
struct FoundWindow {
  cv::Rect rect;
  double score;
};

void sort_hits(std::vector<FoundWindow>& hits) {
  const auto key = [](const FoundWindow& hit) {
    return std::tuple(hit.rect.height, hit.rect.y, hit.rect.x, hit.rect.width, hit.score);
  };
  std::sort(hits.begin(), hits.end(), [key](const FoundWindow& a, const FoundWindow& b) { return key(a) < key(b); });
}

Window to_window(const FoundWindow& hit, double zoom) {
  const auto scaled = [zoom](int value) { return static_cast<float>(value / zoom); };
  const cv::Rect& rect = hit.rect;
  return {scaled(rect.x), scaled(rect.y), scaled(rect.x + rect.width), scaled(rect.y + rect.height),
          static_cast<float>(hit.score)};
}

void shrink_to_body(Window& window) {
  const float dx = (window.x2 - window.x1) * body_margin_x;
  const float dy = (window.y2 - window.y1) * body_margin_y;
  window = {window.x1 + dx, window.y1 + dy, window.x2 - dx, window.y2 - dy, window.score};
}

bool is_empty_range(int min_height, const Search& search) {
  return search.max_size > 0 && min_height > search.max_size;
}

// Both classifiers search from their own window size upwards, so other smallest sizes are had by scaling the image.
cv::Mat zoomed(const cv::Mat& grey, double zoom, cv::Mat& scratch) {
  if (zoom == 1)
    return grey;
  if (zoom > 1 && zoom * grey.cols * zoom * grey.rows > max_enlarged_pixels)
    CV_Error(cv::Error::StsOutOfRange,
             "min-size is too small for a frame of this size: it would be enlarged to more "
             "than 64 million pixels. Raise min-size");
  cv::resize(grey, scratch, {}, zoom, zoom, zoom > 1 ? cv::INTER_LINEAR : cv::INTER_AREA);
  return scratch;
}

class PeopleFinder final : public WindowFinder {
 public:
  PeopleFinder() {
    hog_.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
  }

  cv::Size own_window() const override {
    return hog_.winSize;
  }

  int min_height(const Search& search) const override {
    return min_people_height(search);
  }

  bool holds_window(cv::Size image, const Search& search) const override {
    const double zoom = zoom_of(search);
    return !is_empty_range(min_height(search), search) && std::lround(image.width * zoom) >= hog_.winSize.width &&
           std::lround(image.height * zoom) >= hog_.winSize.height;
  }

  void find(const cv::Mat& grey, const Search& search, std::vector<Window>& windows) override {
    windows.clear();
    // OpenCV would search an image below its window as if it had about 2^64 positions.
    if (!holds_window(grey.size(), search))
      return;
    const double zoom = zoom_of(search);
    const cv::Mat image = zoomed(grey, zoom, scratch_);
    list_scales(image.size(), search);
    found_.resize(scales_.size());
    cv::parallel_for_({0, static_cast<int>(scales_.size())}, [&](const cv::Range& range) {
      for (int i = range.start; i < range.end; i++)
        find_at(image, scales_[static_cast<std::size_t>(i)], search, found_[static_cast<std::size_t>(i)]);
    });
    hits_.clear();
    for (const std::vector<FoundWindow>& level : found_)
      hits_.insert(hits_.end(), level.begin(), level.end());
    sort_hits(hits_);
    for (const FoundWindow& hit : hits_) {
      windows.push_back(to_window(hit, zoom));
      if (search.body)
        shrink_to_body(windows.back());
    }
  }

 private:
  double zoom_of(const Search& search) const {
    return static_cast<double>(hog_.winSize.height) / min_height(search);
  }

  // The sizes that HOGDescriptor::detectMultiScale() goes through, down to the last that still holds a window.
  void list_scales(cv::Size image, const Search& search) {
    scales_.clear();
    for (double scale = 1; scales_.size() < cv::HOGDescriptor::DEFAULT_NLEVELS; scale *= search.scale_factor) {
      const bool too_small =
          cvRound(image.width / scale) < hog_.winSize.width || cvRound(image.height / scale) < hog_.winSize.height;
      if (too_small || (search.max_size > 0 && min_height(search) * scale > search.max_size))
        break;
      scales_.push_back(scale);
    }
  }

  // detectMultiScale() itself hands over windows and scores under two locks, one after the other, so that its threads
  // may give a window the score of another (OpenCV 4.6).
  void find_at(const cv::Mat& image, double scale, const Search& search, std::vector<FoundWindow>& hits) const {
    cv::Mat level = image;
    if (const cv::Size size(cvRound(image.cols / scale), cvRound(image.rows / scale)); size != image.size())
      cv::resize(image, level = cv::Mat(), size, 0, 0, cv::INTER_LINEAR_EXACT);
    std::vector<cv::Point> places;
    std::vector<double> scores;
    hog_.detect(level, places, scores, search.hit_threshold, {search.win_stride, search.win_stride},
                {search.padding, search.padding});
    const cv::Size window(cvRound(hog_.winSize.width * scale), cvRound(hog_.winSize.height * scale));
    hits.clear();
    for (std::size_t i = 0; i < places.size(); i++)
      hits.push_back({{{cvRound(places[i].x * scale), cvRound(places[i].y * scale)}, window}, scores[i]});
  }

  cv::HOGDescriptor hog_;
  cv::Mat scratch_;
  std::vector<double> scales_;
  std::vector<std::vector<FoundWindow>> found_;
  std::vector<FoundWindow> hits_;
};

class CascadeFinder final : public WindowFinder {
 public:
  bool load(const std::string& path) {
    // The number of stages, which tells an accepted window from one that only came far, has no accessor.
    const cv::FileStorage file(path, cv::FileStorage::READ);
    if (!file.isOpened())
      return false;
    stages_ = static_cast<int>(file.getFirstTopLevelNode()["stages"].size());
    if (stages_ == 0 || !cascade_.load(path) || cascade_.empty())
      return false;
    own_ = cascade_.getOriginalWindowSize();
    return true;
  }

  cv::Size own_window() const override {
    return own_;
  }

  int min_height(const Search& search) const override {
    return search.min_size > 0 ? search.min_size : own_.height;
  }

  bool holds_window(cv::Size image, const Search& search) const override {
    const double zoom = zoom_of(search);
    const cv::Size min = scaled_window(min_height(search), zoom);
    return !is_empty_range(min_height(search), search) && cvRound(image.width * zoom) >= min.width &&
           cvRound(image.height * zoom) >= min.height;
  }

  void find(const cv::Mat& grey, const Search& search, std::vector<Window>& windows) override {
    windows.clear();
    // OpenCV would take the size next to the ones asked for.
    if (!holds_window(grey.size(), search))
      return;
    const double zoom = zoom_of(search);
    cascade_.detectMultiScale(zoomed(grey, zoom, scratch_), rects_, levels_, scores_, search.scale_factor, 0, 0,
                              scaled_window(search.min_size, zoom), scaled_window(search.max_size, zoom), true);
    hits_.clear();
    for (std::size_t i = 0; i < rects_.size(); i++)
      if (levels_[i] == stages_)
        hits_.push_back({rects_[i], scores_[i]});
    sort_hits(hits_);
    for (const FoundWindow& hit : hits_)
      windows.push_back(to_window(hit, zoom));
  }

 private:
  double zoom_of(const Search& search) const {
    return min_height(search) < own_.height ? static_cast<double>(own_.height) / search.min_size : 1;
  }

  // The window of that height in the zoomed image; of no size for height 0, which OpenCV takes for any.
  cv::Size scaled_window(int height, double zoom) const {
    const int scaled = cvRound(height * zoom);
    return height > 0 ? cv::Size(cvRound(static_cast<double>(scaled) * own_.width / own_.height), scaled) : cv::Size();
  }

  int stages_ = 0;
  cv::Size own_;
  cv::CascadeClassifier cascade_;
  cv::Mat scratch_;
  std::vector<cv::Rect> rects_;
  std::vector<int> levels_;
  std::vector<double> scores_;
  std::vector<FoundWindow> hits_;
};

}  // namespace

std::unique_ptr<WindowFinder> make_people_finder() {
  return std::make_unique<PeopleFinder>();
}

std::unique_ptr<WindowFinder> make_cascade_finder(const std::string& path) {
  auto finder = std::make_unique<CascadeFinder>();
  if (!finder->load(path))
    return nullptr;
  return finder;
}

}  // namespace crowd
