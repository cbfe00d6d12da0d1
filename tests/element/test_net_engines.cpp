// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Engines on models written here, good and bad, and on those of pipelines/fetch-model where they can be had.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "detect/net/engine.hpp"
#include "engine_runs.hpp"
#include "small_models.hpp"
#include "temporary_file.hpp"

namespace {

using crowd::net::Engine;
using crowd::net::EngineModel;
using crowd::tensors::Dims;
using crowd::tensors::Tensor;
using crowd::tensors::TensorInfo;
using crowd::test::engine_row;
using crowd::test::noise;
using crowd::test::run;
using crowd::test::small_onnx;
using crowd::test::small_ssd;
using crowd::test::TemporaryFile;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Engine> make(const std::string& path, std::string& problem, bool planar = true) {
  EngineModel model{.path = path, .description = {}};
  model.description.input.planar = planar;
  return engine_row("opencv").make(model, problem);
}

std::string refusal(const std::string& path) {
  std::string problem;
  return make(path, problem) ? "none" : problem;
}

std::string refusal_of(const std::string& ending, const std::string& bytes) {
  return refusal(TemporaryFile(bytes, ending).path);
}

TEST(Engines, HaveNamesAndReadTheirFiles) {
  for (const crowd::net::EngineRow& row : crowd::net::engines()) {
    EXPECT_TRUE(row.make) << row.name;
    EXPECT_TRUE(row.reads("a/model.onnx")) << row.name;
    EXPECT_FALSE(row.reads("a/model.txt")) << row.name;
  }
}

TEST(Engines, RefuseFilesThatAreNotThereOrNotReadable) {
  EXPECT_THAT(refusal("/nothing/there.onnx"), AllOf(HasSubstr("/nothing/there.onnx"), HasSubstr("fetch-model")));
  EXPECT_THAT(refusal("/nothing/there"), HasSubstr(".onnx and .pb"));
  const TemporaryFile folder("", ".onnx");
  std::filesystem::remove(folder.path);
  std::filesystem::create_directory(folder.path);
  EXPECT_THAT(refusal(folder.path), HasSubstr("no such file"));
}

TEST(Engines, RefuseGarbage) {
  std::string garbage(5000, '\0');
  std::mt19937 random(3);
  for (char& byte : garbage)
    byte = static_cast<char>(random());
  for (const std::string& bytes : {std::string(), std::string("<html>404</html>"), std::string(100, '\0'), garbage}) {
    EXPECT_THAT(refusal_of(".onnx", bytes), HasSubstr("no ONNX model"));
    EXPECT_THAT(refusal_of(".pb", bytes), HasSubstr("no TensorFlow graph"));
  }
  EXPECT_THAT(refusal_of(".onnx", small_ssd(1)), HasSubstr("no ONNX model"));
  EXPECT_THAT(refusal_of(".pb", small_onnx()), HasSubstr("no TensorFlow graph"));
}

TEST(Engines, RefuseFilesThatAreCutOff) {
  const std::string onnx = small_onnx();
  for (std::size_t size = 0; size < onnx.size(); size++)
    EXPECT_THAT(refusal_of(".onnx", onnx.substr(0, size)), HasSubstr("cut off; fetch it again")) << size;
  EXPECT_EQ(refusal_of(".onnx", onnx), "none");

  const std::string ssd = small_ssd(1);
  const std::size_t needed = ssd.find("Postprocessor");
  for (std::size_t size = 0; size + 100 < needed; size++)
    EXPECT_NE(refusal_of(".pb", ssd.substr(0, size)), "none") << size;
  EXPECT_EQ(refusal_of(".pb", ssd), "none");
}

TEST(Engines, RefuseWhatOpenCvWouldNotRun) {
  EXPECT_THAT(refusal_of(".onnx", small_onnx({.op = "NonMaxSuppression"})), HasSubstr("without its own NMS"));
  EXPECT_THAT(refusal_of(".onnx", small_onnx({.op = "NoSuchOperator"})),
              AllOf(HasSubstr("OpenCV"), HasSubstr("cannot read it"), HasSubstr("another engine")));
  EXPECT_THAT(refusal_of(".onnx", small_onnx({.op = "Add", .inputs = 2})), HasSubstr("2 inputs"));
  EXPECT_THAT(refusal_of(".onnx", small_onnx({.element_type = 10})), HasSubstr("not of float32"));
  EXPECT_THAT(refusal_of(".onnx", small_onnx({.external_weights = true})), HasSubstr("in another file"));

  std::string other = small_ssd(1);
  for (std::size_t at; (at = other.find("BoxPredictor_0")) != std::string::npos;)
    other[at] = 'X';
  EXPECT_THAT(refusal_of(".pb", other), HasSubstr("convert others to ONNX"));
  std::string lacking = small_ssd(1);
  lacking[lacking.find("BoxPredictor_0/ClassPredictor/weights")] = 'X';
  EXPECT_THAT(refusal_of(".pb", lacking), HasSubstr("BoxPredictor_0/ClassPredictor/weights is missing"));

  EngineModel bytes{.path = "model.onnx", .description = {}};
  bytes.description.input.tensor.type = crowd::tensors::Type::uint8;
  std::string problem;
  EXPECT_FALSE(crowd::net::engines().back().make(bytes, problem));
  EXPECT_THAT(problem, HasSubstr("type=float32"));
}

TEST(Engines, RefuseInputsThatAreTooLarge) {
  const TemporaryFile file(small_onnx(), ".onnx");
  std::string problem;
  const auto engine = make(file.path, problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  for (const auto& [width, height] : {std::pair{0, 4}, {4, -1}, {8193, 1}, {1, 2147483647}, {8192, 8192}}) {
    EXPECT_FALSE(engine->prepare(width, height, outputs, problem));
    EXPECT_THAT(problem, AllOf(HasSubstr(file.path), HasSubstr("max-side")));
  }
}

TEST(Engines, RefuseInputsThatTheNetworkCannotRun) {
  const TemporaryFile file(small_onnx({.side = 8, .reshape = true}), ".onnx");
  std::string problem;
  const auto engine = make(file.path, problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  EXPECT_FALSE(engine->prepare(9, 7, outputs, problem));
  EXPECT_THAT(problem, AllOf(HasSubstr(file.path), HasSubstr("9x7"), HasSubstr("OpenCV cannot run it"),
                             HasSubstr("multiple-of")));
  EXPECT_TRUE(engine->prepare(8, 8, outputs, problem)) << problem;
}

/// Nothing of that size is allocated.
TEST(Engines, RefuseLayersThatTakeTooMuchMemory) {
  const TemporaryFile file(small_onnx({.op = "Sigmoid", .layers = 60}), ".onnx");
  std::string problem;
  const auto engine = make(file.path, problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  EXPECT_FALSE(engine->prepare(4096, 4096, outputs, problem));  // 192 MiB a layer
  EXPECT_THAT(problem, AllOf(HasSubstr(file.path), HasSubstr("its layers take 11 GiB, of at most 10"),
                             HasSubstr("max-side"), HasSubstr("tiles")));
  EXPECT_TRUE(engine->prepare(64, 64, outputs, problem)) << problem;
}

TEST(Engines, RunAsPrepared) {
  const TemporaryFile file(small_onnx(), ".onnx");
  std::string problem;
  const auto engine = make(file.path, problem);
  ASSERT_TRUE(engine) << problem;
  const std::vector<float> input = noise(3 * 5 * 7 * 2, -1, 1);
  std::vector<Tensor> none;
  EXPECT_FALSE(engine->run({.dims = {1, 3, 5, 7}, .data = input.data()}, none, problem));

  std::vector<TensorInfo> outputs;
  ASSERT_TRUE(engine->prepare(7, 5, outputs, problem)) << problem;
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].name, "out");
  EXPECT_THAT(outputs[0].dims, ElementsAre(-1, 3, 5, 7));
  const auto positive = run(*engine, input, {2, 3, 5, 7});
  ASSERT_EQ(positive.at(0).size(), input.size());
  for (std::size_t i = 0; i < input.size(); i++)
    EXPECT_EQ(positive[0][i], std::max(input[i], 0.F)) << i;
  for (const Dims& dims : {Dims{1, 3, 7, 5}, {1, 5, 7, 3}, {0, 3, 5, 7}, {3, 5, 7}})
    EXPECT_FALSE(engine->run({.dims = dims, .data = input.data()}, none, problem));
}

/// Anchors of TensorFlow's order: by row, column and anchor of the cell.
TEST(Engines, GatherTheLayersOfAnSsd) {
  constexpr int anchors = 3, width = 4, height = 2;
  const TemporaryFile file(small_ssd(anchors), ".pb");
  for (const bool planar : {true, false}) {
    std::string problem;
    const auto engine = make(file.path, problem, planar);
    ASSERT_TRUE(engine) << problem;
    std::vector<TensorInfo> outputs;
    ASSERT_TRUE(engine->prepare(width, height, outputs, problem)) << problem;
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_EQ(outputs[0].name, "box_encodings");
    EXPECT_THAT(outputs[0].dims, ElementsAre(-1, width * height * anchors, 4));
    EXPECT_EQ(outputs[1].name, "class_predictions");
    EXPECT_THAT(outputs[1].dims, ElementsAre(-1, width * height * anchors, 2));

    std::vector<float> input(3 * width * height);
    for (int channel = 0; channel < 3; channel++) {
      for (int cell = 0; cell < width * height; cell++)
        input[static_cast<std::size_t>(planar ? channel * width * height + cell : cell * 3 + channel)] =
            static_cast<float>(cell + channel);
    }
    const auto results = run(*engine, input, planar ? Dims{1, 3, height, width} : Dims{1, height, width, 3});
    std::vector<float> boxes, classes;
    for (int cell = 0; cell < width * height; cell++) {
      const int sum = cell + 10 * (cell + 1) + 100 * (cell + 2);
      for (int channel = 0; channel < 4 * anchors; channel++)
        boxes.push_back(static_cast<float>(sum + channel));
      for (int channel = 0; channel < 2 * anchors; channel++)
        classes.push_back(static_cast<float>(sum + channel));
    }
    EXPECT_THAT(results, ElementsAre(boxes, classes));
  }
}

/// The model's path; empty where it cannot be fetched, with the reason on the standard error output.
std::string fetched(const std::string& name) {
  std::FILE* const pipe =
      popen(("CROWD_CACHE='" CROWD_SOURCES "/.cache' '" CROWD_SOURCES "/pipelines/fetch-model' " + name).c_str(), "r");
  if (!pipe)
    return "";
  std::string path(4096, '\0');
  path.resize(std::fread(path.data(), 1, path.size(), pipe));
  if (pclose(pipe) != 0)
    return "";
  path.pop_back();
  return path;
}

struct RealModel {
  const char* name;
  int width, height;
  float low, high;
  std::vector<Dims> outputs;
};

class RealModels : public testing::TestWithParam<RealModel> {
 protected:
  void SetUp() override {
    path_ = fetched(GetParam().name);
    if (path_.empty())
      GTEST_SKIP() << GetParam().name << " cannot be fetched";
  }

  std::unique_ptr<Engine> engine(int width, int height) const {
    std::string problem;
    auto engine = make(path_, problem);
    std::vector<TensorInfo> outputs;
    if (engine && engine->prepare(width, height, outputs, problem))
      return engine;
    ADD_FAILURE() << problem;
    return nullptr;
  }

#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool runs_are_slow = true;  ///< a sanitizer keeps the stack of each of OpenCV's allocations
#else
  static constexpr bool runs_are_slow = false;
#endif

  std::string path_;
};

TEST_P(RealModels, HaveTheShapesOfTheirOutputs) {
  std::string problem;
  const auto engine = make(path_, problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  ASSERT_TRUE(engine->prepare(GetParam().width, GetParam().height, outputs, problem)) << problem;
  std::vector<Dims> dims;
  for (const TensorInfo& output : outputs)
    dims.push_back(output.dims);
  EXPECT_EQ(dims, GetParam().outputs);
}

TEST_P(RealModels, GiveTheSameInABatchAndAlone) {
  if (runs_are_slow)
    GTEST_SKIP() << "small models take the same ways";
  const RealModel& real = GetParam();
  const auto engine = this->engine(real.width, real.height);
  ASSERT_TRUE(engine);
  const std::size_t one = 3UL * static_cast<std::size_t>(real.width * real.height);
  const std::vector<float> input = noise(9 * one, real.low, real.high);
  const auto batch = run(*engine, input, {9, 3, real.height, real.width});
  for (const std::size_t i : {8UL, 0UL, 4UL}) {
    const std::vector<float> alone(input.begin() + static_cast<std::ptrdiff_t>(i * one),
                                   input.begin() + static_cast<std::ptrdiff_t>((i + 1) * one));
    const auto results = run(*engine, alone, {1, 3, real.height, real.width});
    for (std::size_t output = 0; output < results.size(); output++) {
      const auto begin = batch[output].begin() + static_cast<std::ptrdiff_t>(i * results[output].size());
      EXPECT_TRUE(std::equal(results[output].begin(), results[output].end(), begin)) << i << ' ' << output;
    }
  }
}

/// OpenCV 4.6 gives wrong results for inputs of another shape than the first.
TEST_P(RealModels, GiveTheSameAfterInputsOfAnotherSize) {
  if (runs_are_slow)
    GTEST_SKIP() << "small models take the same ways";
  const RealModel& real = GetParam();
  const std::vector<float> input = noise(3UL * static_cast<std::size_t>(real.width * real.height), real.low, real.high);
  const Dims dims = {1, 3, real.height, real.width};
  const auto fresh = engine(real.width, real.height);
  const auto used = engine(real.width + 32, real.height + 64);
  ASSERT_TRUE(fresh && used);
  const std::vector<float> larger(3UL * static_cast<std::size_t>((real.width + 32) * (real.height + 64)));
  run(*used, larger, {1, 3, real.height + 64, real.width + 32});
  std::string problem;
  std::vector<TensorInfo> outputs;
  ASSERT_TRUE(used->prepare(real.width, real.height, outputs, problem)) << problem;
  EXPECT_EQ(run(*fresh, input, dims), run(*used, input, dims));
}

INSTANTIATE_TEST_SUITE_P(
    Engines, RealModels,
    testing::Values(
        RealModel{"person-net", 300, 300, -1, 1, {{-1, 1917, 4}, {-1, 1917, 2}}},
        RealModel{"face-net", 192, 160, 0, 255, {{-1, 1, 40, 48}, {-1, 2, 40, 48}, {-1, 2, 40, 48}, {-1, 10, 40, 48}}}),
    [](const auto& info) { return std::string(info.param.name == std::string("face-net") ? "Faces" : "Persons"); });

}  // namespace
