// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime: libraries good and bad, models good and bad, and the same networks in OpenCV.

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "detect/net/engine.hpp"
#include "detect/net/ort_library.hpp"
#include "engine_runs.hpp"
#include "memory_limit.hpp"
#include "real_models.hpp"
#include "small_models.hpp"
#include "temporary_file.hpp"

namespace {

using crowd::net::Engine;
using crowd::net::EngineModel;
using crowd::tensors::Dims;
using crowd::tensors::elements_of;
using crowd::tensors::Tensor;
using crowd::tensors::TensorInfo;
using crowd::tensors::Type;
using crowd::test::engine_row;
using crowd::test::noise;
using crowd::test::printed_by;
using crowd::test::run;
using crowd::test::small_onnx;
using crowd::test::TemporaryFile;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Why none of these libraries is taken.
std::string refusal_of_libraries(const std::vector<std::string>& names) {
  std::string problem = "none";
  return crowd::net::find_ort_library(names, problem) ? "none" : problem;
}

TEST(OrtLibrary, ThatIsMissingIsToldWithTheRemedy) {
  EXPECT_THAT(refusal_of_libraries({"libno-such-library.so.1"}),
              AllOf(HasSubstr("there is no libonnxruntime.so.1"), HasSubstr("install ONNX Runtime 1."),
                    HasSubstr("LD_LIBRARY_PATH")));
}

TEST(OrtLibrary, ThatIsTooOldIsToldWithItsVersion) {
  EXPECT_THAT(refusal_of_libraries({"libno-such-library.so.1", FAKE_OLD}),
              AllOf(HasSubstr(FAKE_OLD), HasSubstr("1.14.1, which is too old"), HasSubstr("or later")));
}

TEST(OrtLibrary, ThatIsSomethingElseIsTold) {
  EXPECT_THAT(refusal_of_libraries({FAKE_NULL}), HasSubstr("is not ONNX Runtime"));
  EXPECT_THAT(refusal_of_libraries({FAKE_OTHER}), HasSubstr("is not ONNX Runtime"));
  const TemporaryFile text("no library");
  EXPECT_THAT(refusal_of_libraries({text.path}), AllOf(HasSubstr("cannot be loaded"), HasSubstr("LD_LIBRARY_PATH")));
}

TEST(OrtLibrary, OfTheRightVersionIsFoundBehindOneThatIsTooOld) {
  std::vector<std::string> names = crowd::net::ort_library_names();
  const std::string alone = refusal_of_libraries(names);
  if (alone != "none")
    GTEST_SKIP() << alone;
  names.insert(names.begin(), FAKE_OLD);
  EXPECT_EQ(refusal_of_libraries(names), "none");
}

class OrtEngines : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    library_ = crowd::net::ort_library(problem);
    // A machine where the headers are has the library, too.
    ASSERT_TRUE(library_) << problem;
  }

  const crowd::net::OrtLibrary* library_ = nullptr;
};

EngineModel model_at(const std::string& path) {
  return {.path = path, .description = {}, .threads = 2};
}

class OrtModels : public OrtEngines {
 protected:
  std::string refusal(const EngineModel& model) {
    std::string problem;
    return engine_row("onnxruntime").make(model, problem) ? "none" : problem;
  }
  std::string refusal_of(const std::string& bytes) {
    return refusal(model_at(TemporaryFile(bytes, ".onnx").path));
  }
};

TEST_F(OrtModels, WithoutCudaAreToldSo) {
  std::string problem;
  if (crowd::net::ort_has_cuda(*library_, problem))
    GTEST_SKIP() << "this library has CUDA";
  EXPECT_THAT(problem, AllOf(HasSubstr(library_->version), HasSubstr("without CUDA"), HasSubstr("cudadownload")));
  if (const auto make_device = engine_row("onnxruntime").make_device; make_device) {
    EXPECT_FALSE(make_device(model_at("model.onnx"), 0, problem));
    EXPECT_THAT(problem, HasSubstr("without CUDA"));
  }
}

TEST_F(OrtModels, WithoutTheLibrariesOfCudaAreToldSo) {
  std::string problem;
  const auto device_problem = engine_row("onnxruntime").device_problem;
  if (!device_problem || !crowd::net::ort_has_cuda(*library_, problem))
    GTEST_SKIP() << "no CUDA in this build, or in this library";
  problem = device_problem();
  if (problem.empty())
    GTEST_SKIP() << "it has all that it needs";
  EXPECT_THAT(problem, AllOf(HasSubstr(library_->version), HasSubstr("cannot use CUDA: "), HasSubstr(".so"),
                             HasSubstr("cuDNN"), HasSubstr("LD_LIBRARY_PATH"), HasSubstr("cudadownload")));
}

TEST_F(OrtModels, ThatAreNotThereOrNotWholeAreRefused) {
  EXPECT_THAT(refusal(model_at("/nothing/there.onnx")),
              AllOf(HasSubstr("/nothing/there.onnx"), HasSubstr("check the path")));
  const std::string whole = small_onnx();
  for (const std::string& bytes : {std::string(), std::string("<html>404</html>"), whole.substr(0, whole.size() / 2)})
    EXPECT_THAT(refusal_of(bytes), HasSubstr("ONNX Runtime cannot load it")) << bytes.size();
  EXPECT_THAT(refusal_of(small_onnx({.op = "NoSuchOperator"})), HasSubstr("NoSuchOperator"));
  EXPECT_EQ(refusal_of(whole), "none");
}

TEST_F(OrtModels, OfOtherInputsThanDescribedAreRefused) {
  EXPECT_THAT(refusal_of(small_onnx({.op = "Add", .inputs = 2})), HasSubstr("2 inputs"));
  EXPECT_THAT(refusal_of(small_onnx({.op = "Identity", .element_type = 7, .output_type = 7})),
              HasSubstr("no tensor of float32"));
  const TemporaryFile file(small_onnx({.side = 8}), ".onnx");
  EngineModel model = model_at(file.path);
  model.description.input.tensor.type = Type::uint8;
  EXPECT_THAT(refusal(model), HasSubstr("of type float32"));
  model.description.input.tensor.type = Type::float32;
  model.description.input.planar = false;
  EXPECT_THAT(refusal(model), HasSubstr("has the channels"));
  model.description.input.planar = true;
  model.description.input.tensor.dims = {-1, 3, 9, 9};
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("1x3x8x8"), HasSubstr("?x3x9x9")));
  model.description.input.tensor.dims = {-1, 3, 8, 8};
  EXPECT_EQ(refusal(model), "none");
}

TEST_F(OrtModels, OfOtherOutputsThanDescribedAreRefused) {
  EXPECT_THAT(refusal_of(small_onnx({.op = "IsNaN", .output_type = 9})), HasSubstr("no outputs of float32"));
  const TemporaryFile file(small_onnx(), ".onnx");
  EngineModel model = model_at(file.path);
  model.description.outputs = {{.name = "boxes", .id = {}, .dims = {}}, {.name = "scores", .id = {}, .dims = {}}};
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("outputs out"), HasSubstr("boxes, scores")));
  model.description.outputs.pop_back();
  EXPECT_EQ(refusal(model), "none") << "one tensor, by another name";
}

TEST_F(OrtModels, OfAFixedSizeRefuseOthers) {
  const TemporaryFile file(small_onnx({.side = 8, .reshape = true}), ".onnx");
  std::string problem;
  const auto engine = engine_row("onnxruntime").make(model_at(file.path), problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  EXPECT_TRUE(engine->prepare(8, 8, outputs, problem)) << problem;
  for (const auto& [width, height] : {std::pair{8, 9}, {8, 9}, {0, 8}}) {
    EXPECT_FALSE(engine->prepare(width, height, outputs, problem));
    EXPECT_THAT(problem, AllOf(HasSubstr("1x3x8x8"), HasSubstr("description"))) << width;
  }
  std::vector<Tensor> none;
  const std::vector<float> input = noise(3 * 8 * 8, -1, 1);
  EXPECT_FALSE(engine->run({.dims = {1, 3, 8, 8}, .data = input.data()}, none, problem));
  EXPECT_THAT(problem, HasSubstr("prepared for"));
  ASSERT_TRUE(engine->prepare(8, 8, outputs, problem)) << problem;
  EXPECT_THAT(run(*engine, input, {1, 3, 8, 8}), ElementsAre(input));
}

TEST_F(OrtModels, ThatFindNoMemorySaySo) {
  if (!crowd::test::MemoryLimit::limits_work)
    GTEST_SKIP() << "sanitizers take all memory that there is";
  const TemporaryFile file(small_onnx(), ".onnx");
  std::string problem;
  const auto engine = engine_row("onnxruntime").make(model_at(file.path), problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  const auto expect_told = [&problem] {
    EXPECT_THAT(problem, AllOf(HasSubstr("not find enough memory"), HasSubstr("fewer tiles")));
    EXPECT_THAT(problem, testing::Not(HasSubstr("has dims")));
  };
  constexpr int side = 8192;  // 768 MiB of input, and of output
  {
    const crowd::test::MemoryLimit limit(1UL << 30);
    EXPECT_FALSE(engine->prepare(side, side, outputs, problem));
    expect_told();
  }
  ASSERT_TRUE(engine->prepare(1024, 1024, outputs, problem)) << problem;
  constexpr int batch = 40;  // 480 MiB
  const std::vector<float> input(3UL * 1024 * 1024 * batch);
  std::vector<Tensor> results;
  {
    const crowd::test::MemoryLimit limit(256 << 20);
    EXPECT_FALSE(engine->run({.dims = {batch, 3, 1024, 1024}, .data = input.data()}, results, problem));
    expect_told();
  }
  EXPECT_TRUE(engine->run({.dims = {1, 3, 1024, 1024}, .data = input.data()}, results, problem)) << problem;
}

/// As centerface.onnx, which says 32x32 and ten of them.
TEST_F(OrtModels, TakeOtherSizesThanTheFileSaysWhereTheNetworkDoes) {
  const TemporaryFile file(small_onnx({.batch = 10, .side = 8}), ".onnx");
  std::string problem;
  const auto engine = engine_row("onnxruntime").make(model_at(file.path), problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> outputs;
  for (const int width : {8, 9, 5, 8}) {
    ASSERT_TRUE(engine->prepare(width, 8, outputs, problem)) << problem;
    EXPECT_THAT(outputs.at(0).dims, ElementsAre(-1, 3, 8, width));
    const std::vector<float> input = noise(3UL * 3 * 8 * static_cast<unsigned>(width), 0, 1);
    EXPECT_THAT(run(*engine, input, {3, 3, 8, width}), ElementsAre(input)) << width;
  }
}

/// Batches that are a part of the model's, all of it, and several.
TEST_F(OrtModels, RunBatchesOfAnySize) {
  for (const int fixed : {0, 1, 4}) {
    const TemporaryFile file(small_onnx({.batch = fixed}), ".onnx");
    std::string problem;
    const auto engine = engine_row("onnxruntime").make(model_at(file.path), problem);
    ASSERT_TRUE(engine) << problem;
    std::vector<TensorInfo> outputs;
    ASSERT_TRUE(engine->prepare(7, 5, outputs, problem)) << problem;
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_EQ(outputs[0].name, "out");
    EXPECT_THAT(outputs[0].dims, ElementsAre(-1, 3, 5, 7));
    for (const int batch : {1, 3, 4, 9}) {
      const std::vector<float> input = noise(static_cast<std::size_t>(batch) * 3 * 5 * 7, -1, 1);
      std::vector<float> positive = input;
      for (float& value : positive)
        value = std::max(value, 0.F);
      EXPECT_THAT(run(*engine, input, {batch, 3, 5, 7}), ElementsAre(positive)) << fixed << ' ' << batch;
    }
  }
}

TEST_F(OrtModels, RunInHalfPrecision) {
  constexpr int half = 10;  // FLOAT16 of ONNX
  const TemporaryFile file(small_onnx({.element_type = half, .output_type = half}), ".onnx");
  EngineModel model = model_at(file.path);
  EXPECT_THAT(refusal(model), HasSubstr("of type float16"));
  model.description.input.tensor.type = Type::float16;
  std::string problem;
  const auto engine = engine_row("onnxruntime").make(model, problem);
  ASSERT_TRUE(engine) << problem;
  std::vector<TensorInfo> infos;
  ASSERT_TRUE(engine->prepare(2, 1, infos, problem)) << problem;
  EXPECT_EQ(infos.at(0).type, Type::float16);
  const std::vector<std::uint16_t> input = {0x3c00, 0xbc00, 0x0001, 0x8001, 0x7bff, 0x4248};  // 1, -1, min, max, 3.14
  std::vector<Tensor> outputs;
  const Dims dims = {1, 3, 1, 2};
  ASSERT_TRUE(engine->run({.type = Type::float16, .dims = dims, .data = input.data()}, outputs, problem)) << problem;
  ASSERT_EQ(outputs.at(0).type, Type::float16);
  const auto* const data = static_cast<const std::uint16_t*>(outputs[0].data);
  EXPECT_THAT(std::vector(data, data + input.size()), ElementsAre(0x3c00, 0, 0x0001, 0, 0x7bff, 0x4248));
  EXPECT_FALSE(engine->run({.dims = dims, .data = input.data()}, outputs, problem)) << "float32";
}

struct RealModel {
  const char* name;
  int width, height;
  float low, high;
};

class SameModels : public OrtEngines, public testing::WithParamInterface<RealModel> {};

/// The largest difference, relative to the largest magnitude in the output.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    largest = std::max<double>(largest, std::fabs(a[i]));
    apart = std::max<double>(apart, std::isnan(a[i]) || std::isnan(b[i]) ? INFINITY : std::fabs(a[i] - b[i]));
  }
  return apart / largest;
}

TEST_P(SameModels, GiveTheSameInOpenCv) {
  const RealModel& real = GetParam();
  const std::string for_opencv = printed_by(std::string("fetch-model ") + real.name);
  if (for_opencv.empty())
    GTEST_SKIP() << real.name << " cannot be fetched";
  const std::string for_ort = for_opencv.ends_with(".onnx") ? for_opencv : printed_by("convert-model person-net");
  ASSERT_FALSE(for_ort.empty());
  std::string problem;
  const auto ort = engine_row("onnxruntime").make(model_at(for_ort), problem);
  ASSERT_TRUE(ort) << problem;
  const auto opencv = engine_row("opencv").make(model_at(for_opencv), problem);
  ASSERT_TRUE(opencv) << problem;
  std::vector<TensorInfo> of_ort, of_opencv;
  ASSERT_TRUE(ort->prepare(real.width, real.height, of_ort, problem)) << problem;
  ASSERT_TRUE(opencv->prepare(real.width, real.height, of_opencv, problem)) << problem;
  const Dims dims = {2, 3, real.height, real.width};
  const std::vector<float> input = noise(elements_of(dims), real.low, real.high);
  const auto results = run(*ort, input, dims), expected = run(*opencv, input, dims);
  ASSERT_EQ(of_ort.size(), of_opencv.size());
  for (std::size_t i = 0; i < of_ort.size(); i++) {
    std::size_t same = 0;
    while (same < of_opencv.size() && of_opencv[same].name != of_ort[i].name)
      same++;
    ASSERT_LT(same, of_opencv.size()) << of_ort[i].name;
    EXPECT_EQ(of_ort[i].dims, of_opencv[same].dims);
    ASSERT_EQ(results[i].size(), expected[same].size());
    EXPECT_LT(difference(expected[same], results[i]), 1e-3) << of_ort[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, SameModels,
                         testing::Values(RealModel{"person-net", 300, 300, -1, 1},
                                         RealModel{"face-net", 192, 160, 0, 255}),
                         [](const auto& info) {
                           return std::string(info.param.name == std::string("face-net") ? "Faces" : "Persons");
                         });

}  // namespace
