// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/stockrule.hpp"

#include <crowd/nms.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace crowd {

namespace {

using tensors::RawBox;
using tensors::Tensor;

/// What the tensors hold, as it leaves and as overlap is taken of it.
struct Decoded {
  std::vector<RawBox> boxes;
  std::vector<CrowdNmsBox> compared;
  std::vector<float> scores;

  void clear() {
    boxes.clear();
    compared.clear();
    scores.clear();
  }
  void add(const RawBox& box, const CrowdNmsBox& as_compared) {
    boxes.push_back(box);
    compared.push_back(as_compared);
    scores.push_back(box.score);
  }
};

bool is_empty(const CrowdNmsBox& box) {
  return !(box.x2 > box.x1 && box.y2 > box.y1);
}

class Greedy final {
 public:
  /// What suppresses, and at which overlap. False if there is no memory.
  bool select(const Decoded& candidates, CrowdNmsComparator comparator, const StockSettings& settings,
              std::vector<RawBox>& kept, std::string& problem);

 private:
  using Session = std::unique_ptr<CrowdNmsSession, decltype(&crowd_nms_session_free)>;

  bool make_room(std::uint32_t count, std::string& problem);

  Session session_{nullptr, crowd_nms_session_free};
  std::uint32_t room_ = 0;
  std::vector<std::uint32_t> survivors_, order_;
};

bool Greedy::make_room(std::uint32_t count, std::string& problem) {
  if (count <= room_)
    return true;
  const std::uint32_t room = std::max(2 * room_, count);
  CrowdNmsSession* made = nullptr;
  if (crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 1, room, &made) != CROWD_NMS_OK) {
    problem = crowd_nms_last_error();
    return false;
  }
  session_.reset(made);
  survivors_.resize(room);
  room_ = room;
  return true;
}

bool Greedy::select(const Decoded& candidates, CrowdNmsComparator comparator, const StockSettings& settings,
                    std::vector<RawBox>& kept, std::string& problem) {
  kept.clear();
  const auto count = static_cast<std::uint32_t>(candidates.boxes.size());
  if (count == 0)
    return true;
  if (!make_room(count, problem))
    return false;
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  params.comparator = comparator;
  params.overlap_threshold = static_cast<double>(settings.iou_threshold);
  params.class_agnostic = 1;
  CrowdNmsCandidates input{};
  input.boxes = candidates.compared.data();
  input.scores = candidates.scores.data();
  input.frames = 1;
  input.capacity = count;
  CrowdNmsReport report{};
  CrowdNmsSurvivors output{};
  output.survivors = survivors_.data();
  output.reports = &report;
  output.max_survivors = count;
  if (crowd_nms_session_run(session_.get(), &params, &input, &output) != CROWD_NMS_OK) {
    problem = crowd_nms_last_error();
    return false;
  }
  // What overlaps nothing was invalid to NMS.
  order_.assign(survivors_.begin(), survivors_.begin() + report.survivors);
  for (std::uint32_t i = 0; i < count; i++) {
    if (is_empty(candidates.compared[i]))
      order_.push_back(i);
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return candidates.scores[a] != candidates.scores[b] ? candidates.scores[a] > candidates.scores[b] : a < b;
  };
  if (order_.size() > report.survivors)
    std::ranges::sort(order_, before);
  order_.resize(std::min<std::size_t>(order_.size(), settings.max_detections));
  for (const std::uint32_t i : order_)
    kept.push_back(candidates.boxes[i]);
  return true;
}

constexpr char remedy[] = ", which GStreamer's decoder takes: set compatibility=none, or let the network give these";

bool has_dims(const Tensor& tensor, std::initializer_list<std::int64_t> dims) {
  return tensor.type == tensors::Type::float32 && tensor.data && tensor.dims.size() == dims.size() &&
         std::equal(dims.begin(), dims.end(), tensor.dims.begin(), [](std::int64_t wanted, std::int64_t size) {
           return wanted == tensors::any_size ? size >= 0 && size <= std::numeric_limits<std::int32_t>::max()
                                              : size == wanted;
         });
}

class YoloRule final : public StockRule {
 public:
  bool select(std::span<const Tensor> outputs, const StockSettings& settings, std::vector<RawBox>& kept,
              std::string& problem) override;

 private:
  void add_block(const float* first, std::size_t classes, std::size_t places, std::size_t count,
                 const StockSettings& settings);
  void add(const float* place, std::size_t places, float score, std::uint32_t best, const StockSettings& settings);

  Decoded candidates_;
  Greedy greedy_;
};

/// What overlaps: a side without what lies before 0. All of it does: none.
void cut_before_zero(float& low, float& high, bool& outside) {
  outside |= high < 0;
  low = std::max(low, 0.F);
}

/// Of what is above 0. In double, where the sum is not rounded first.
float to_nearest(float value) {
  return static_cast<float>(std::trunc(static_cast<double>(value) + 0.5));
}

/// A constant, so that the compiler makes vectors of it.
constexpr std::size_t block = 256;

/// Best score of each place, 0 where none is above 0. By value, so that the compiler knows of no other writer.
template <typename Count>
std::array<float, block> best_scores(const float* scores, std::size_t classes, std::size_t places, Count count) {
  std::array<float, block> best{};
  for (std::size_t class_id = 0; class_id < classes; class_id++, scores += places) {
    for (std::size_t i = 0; i < count; i++)
      best[i] = scores[i] > best[i] ? scores[i] : best[i];
  }
  return best;
}

/// The first class of that score, which one has.
std::uint32_t class_of(const float* scores, std::size_t places, float score) {
  std::uint32_t class_id = 0;
  for (; *scores != score; scores += places)
    class_id++;
  return class_id;
}

// Plane by plane, as a place's numbers lie far apart, of so few places that all their scores stay in a near cache.
void YoloRule::add_block(const float* first, std::size_t classes, std::size_t places, std::size_t count,
                         const StockSettings& settings) {
  const float* scores = first + 4 * places;
  const auto best = count == block ? best_scores(scores, classes, places, std::integral_constant<std::size_t, block>())
                                   : best_scores(scores, classes, places, count);
  for (std::size_t i = 0; i < count; i++) {
    if (best[i] > settings.score_threshold)
      add(first + i, places, best[i], class_of(scores + i, places, best[i]), settings);
  }
}

void YoloRule::add(const float* place, std::size_t places, float score, std::uint32_t best,
                   const StockSettings& settings) {
  const float x = place[0], y = place[places], width = place[2 * places], height = place[3 * places];
  const auto frame_width = static_cast<float>(settings.frame_width);
  const auto frame_height = static_cast<float>(settings.frame_height);
  const bool fits = x >= -(frame_width / 2) && x <= frame_width && y >= -(frame_height / 2) && y <= frame_height &&
                    width > 0 && width <= frame_width && height > 0 && height <= frame_height;
  if (!fits)
    return;
  const float left = std::trunc(x - width / 2), top = std::trunc(y - height / 2);
  const float right = left + to_nearest(width), bottom = top + to_nearest(height);
  CrowdNmsBox compared{left, top, right, bottom};
  bool outside = false;
  cut_before_zero(compared.x1, compared.x2, outside);
  cut_before_zero(compared.y1, compared.y2, outside);
  if (outside)
    compared = {};
  candidates_.add({left, top, right, bottom, score, best}, compared);
}

bool YoloRule::select(std::span<const Tensor> outputs, const StockSettings& settings, std::vector<RawBox>& kept,
                      std::string& problem) {
  if (outputs.size() != 1 || !has_dims(outputs[0], {1, tensors::any_size, tensors::any_size}) ||
      outputs[0].dims[1] < 5) {
    problem = std::string("the tensor is not float32 of [1, 4 + classes, places]") + remedy;
    return false;
  }
  const auto classes = static_cast<std::size_t>(outputs[0].dims[1] - 4);
  const auto places = static_cast<std::size_t>(outputs[0].dims[2]);
  const auto* values = static_cast<const float*>(outputs[0].data);
  candidates_.clear();
  for (std::size_t first = 0; first < places; first += block)
    add_block(values + first, classes, places, std::min(block, places - first), settings);
  return greedy_.select(candidates_, CROWD_NMS_GREATER, settings, kept, problem);
}

class FaceRule final : public StockRule {
 public:
  bool select(std::span<const Tensor> outputs, const StockSettings& settings, std::vector<RawBox>& kept,
              std::string& problem) override;

 private:
  Decoded candidates_;
  Greedy greedy_;
};

/// Whole pixels of a box from 0 to 1.
RawBox rounded(const CrowdNmsBox& box, const StockSettings& settings, float score) {
  const auto width = static_cast<float>(settings.frame_width), height = static_cast<float>(settings.frame_height);
  const float x1 = box.x1 * width, y1 = box.y1 * height, x2 = box.x2 * width, y2 = box.y2 * height;
  const float left = std::trunc(x1 + 0.5F), top = std::trunc(y1 + 0.5F);
  return {left, top, left + std::trunc(x2 - x1 + 0.5F), top + std::trunc(y2 - y1 + 0.5F), score, 0};
}

bool FaceRule::select(std::span<const Tensor> outputs, const StockSettings& settings, std::vector<RawBox>& kept,
                      std::string& problem) {
  const std::size_t first = outputs.size() == 2 && has_dims(outputs[1], {1, tensors::any_size, 4}) ? 1 : 0;
  if (outputs.size() != 2 || !has_dims(outputs[first], {1, tensors::any_size, 4}) ||
      !has_dims(outputs[1 - first], {1, outputs[first].dims[1], 2})) {
    problem = std::string("the tensors are not float32 of [1, places, 4] and [1, places, 2]") + remedy;
    return false;
  }
  const auto* boxes = static_cast<const CrowdNmsBox*>(outputs[first].data);
  const auto* scores = static_cast<const float*>(outputs[1 - first].data);
  candidates_.clear();
  for (std::int64_t place = 0; place < outputs[first].dims[1]; place++) {
    const float score = scores[2 * place + 1];
    const RawBox box = rounded(boxes[place], settings, score);
    if (score >= settings.score_threshold && box.x2 >= box.x1 && box.y2 >= box.y1)
      candidates_.add(box, boxes[place]);
  }
  return greedy_.select(candidates_, CROWD_NMS_GREATER_EQUAL, settings, kept, problem);
}

}  // namespace

std::unique_ptr<StockRule> StockRule::of_layout(const std::string& group_id) {
  if (group_id == "yolo-v8-out")
    return std::make_unique<YoloRule>();
  if (group_id == "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out")
    return std::make_unique<FaceRule>();
  return nullptr;
}

}  // namespace crowd
