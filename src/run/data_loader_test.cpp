#include "run/data_loader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "run/run_test_util.h"

// The expected numbers and lines were made with Polygraphy 0.49 and NumPy.
namespace assay::data_loader_test {
namespace {

using Report = DataLoader::Report;

TensorInfo info(const char* name, DType type, Dims dims) {
  return {name, Type::tensor(type, std::move(dims))};
}

template <typename T>
std::vector<T> values(const TensorList& list, const char* name) {
  const Tensor* t = find(list, name);
  if (t == nullptr) return {};
  return {t->span<T>().begin(), t->span<T>().end()};
}

const std::vector<TensorInfo> kOneOfEach = {
    info("x", DType::kFloat32, {2, 2}), info("i", DType::kInt64, {4}), info("h", DType::kFloat16, {3}),
    info("b", DType::kBool, {6}),       info("u", DType::kUInt8, {5}), info("d", DType::kFloat64, {2})};

TEST(DataLoader, DrawsWhatNumPyDraws) {
  const DataLoader loader({.iterations = 2});
  const TensorList first = loader.load(0, kOneOfEach, Report::kYes);
  EXPECT_EQ(values<float>(first, "x"),
            (std::vector<float>{0x1.ab07dp-2F, 0x1.70ce6p-1F, 0x1.dfb906p-14F, 0x1.3596acp-2F}));
  EXPECT_EQ(values<int64_t>(first, "i"), (std::vector<int64_t>{1, 0, 0, 1}));
  EXPECT_EQ(find(first, "h")->bitcast(DType::kUInt16).to_int64(),
            (std::vector<int64_t>{12790, 13703, 13913}));
  EXPECT_EQ(find(first, "b")->to_int64(), (std::vector<int64_t>{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(find(first, "u")->to_int64(), (std::vector<int64_t>{0, 1, 1, 0, 0}));
  EXPECT_EQ(values<double>(first, "d"), (std::vector<double>{0x1.40cac5d7b545cp-2, 0x1.0c91938d15beep-1}));

  const TensorList second = loader.load(1, kOneOfEach, Report::kYes);
  EXPECT_EQ(values<float>(second, "x"),
            (std::vector<float>{0x1.be7572p-2F, 0x1.a8c68p-6F, 0x1.196d5cp-1F, 0x1.bdc528p-2F}));
  EXPECT_EQ(values<int64_t>(second, "i"), (std::vector<int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(find(second, "b")->to_int64(), (std::vector<int64_t>{0, 1, 0, 1, 1, 0}));
}

TEST(DataLoader, RangesPerInput) {
  const DataLoader loader({.seed = 7,
                           .ranges = {{"x", {PythonValue(int64_t{5}), PythonValue(int64_t{10})}},
                                      {"", {PythonValue(int64_t{-3}), PythonValue(3.7)}}}});
  const TensorList data = loader.load(
      0, {info("x", DType::kFloat32, {3}), info("i", DType::kInt32, {4}), info("y", DType::kFloat32, {2})},
      Report::kYes);
  EXPECT_EQ(values<float>(data, "x"), (std::vector<float>{0x1.586b2cp+2F, 0x1.1cc97ap+3F, 0x1.cc4a7cp+2F}));
  EXPECT_EQ(values<int32_t>(data, "i"), (std::vector<int32_t>{1, -2, 3, -3}));
  EXPECT_EQ(values<float>(data, "y"), (std::vector<float>{-0x1.359bdcp+1F, -0x1.858ad2p-3F}));
}

TEST(DataLoader, InfiniteRangesGiveInfinities) {
  const PythonValue inf(HUGE_VAL), minus_inf(-HUGE_VAL);
  const DataLoader loader(
      {.ranges = {
           {"x", {minus_inf, PythonValue(2.0)}}, {"y", {PythonValue(0.0), inf}}, {"z", {minus_inf, inf}}}});
  const TensorList data = loader.load(
      0, {info("x", DType::kFloat32, {2}), info("y", DType::kFloat32, {2}), info("z", DType::kFloat32, {2})},
      Report::kYes);
  EXPECT_EQ(values<float>(data, "x"), (std::vector<float>{-HUGE_VALF, -HUGE_VALF}));
  EXPECT_EQ(values<float>(data, "y"), (std::vector<float>{HUGE_VALF, HUGE_VALF}));
  EXPECT_EQ(values<float>(data, "z"), (std::vector<float>{HUGE_VALF, HUGE_VALF}));
}

TEST(DataLoader, StringsAreNumbersInWords) {
  const TensorList data = DataLoader({}).load(0, {info("s", DType::kString, {2})}, Report::kYes);
  EXPECT_EQ(values<std::string>(data, "s"),
            (std::vector<std::string>{"0.417022004702574", "0.7203244934421581"}));
}

TEST(DataLoader, UserShapes) {
  log::Capture capture;
  const DataLoader loader({.shapes = {{"s", {3, 4}}, {"X*", {1, 2, 3}}, {"nope", {1}}, {"Xb", {9, 9}}}});
  const TensorList data =
      loader.load(0,
                  {info("Xa", DType::kFloat32, {1, Dim::symbol("n"), 3}), info("s", DType::kInt64, {2}),
                   info("Xb", DType::kFloat32, {Dim::symbol("k"), Dim()}), info("Xc", DType::kFloat32, {7})},
                  Report::kYes);
  EXPECT_EQ(data[0].tensor.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(values<int64_t>(data, "s"), (std::vector<int64_t>{3, 4}))
      << "a shape given for a shape tensor is its value";
  EXPECT_EQ(data[2].tensor.shape(), (Shape{9, 9}));
  EXPECT_EQ(data[3].tensor.shape(), (Shape{7}));
  EXPECT_EQ(values<float>(data, "Xc").front(), 0x1.edff84p-1F) << "a shape tensor draws no numbers";
  EXPECT_EQ(capture.out(),
            R"([I] Will generate inference input data according to provided TensorMetadata: {s [shape=(3, 4)],
     X* [shape=(1, 2, 3)],
     nope [shape=(1,)],
     Xb [shape=(9, 9)]}
[W] Input tensor: nope | Metadata was provided, but the input does not exist in one or more runners.
[I] Assuming s is a shape tensor. Setting input values to: [3 4]. If these values are not correct, please set them correctly in the metadata of inputs
[W] Input tensor: Xc [shape=BoundedShape([7], min=None, max=None)] | Cannot use provided custom shape: BoundedShape([1, 2, 3], min=None, max=None) to override tensor shape. Will use default shape instead.
)");
}

TEST(DataLoader, OpenExtentsBecomeOneAndSaySo) {
  log::Capture capture;
  const DataLoader loader({.iterations = 2});
  const std::vector<TensorInfo> inputs = {info("x", DType::kFloat32, {Dim::symbol("batch"), 3, Dim()})};
  EXPECT_EQ(loader.load(0, inputs, Report::kYes)[0].tensor.shape(), (Shape{1, 3, 1}));
  loader.load(1, inputs, Report::kYes);
  EXPECT_EQ(capture.out(),
            "[W] Input tensor: x [shape=BoundedShape(['batch', 3, None], min=None, max=None)] | Will "
            "generate data of "
            "shape: [1, 3, 1].\n    If this is incorrect, please provide a custom data loader.\n");
}

TEST(DataLoader, OptionsThatFitNothingAreReported) {
  log::Capture capture;
  const DataLoader loader({.shapes = {{"inp", {2}}, {"z*", {2}}, {"x", {Dim::symbol("n")}}},
                           .ranges = {{"q", {PythonValue(0.0), PythonValue(1.0)}}}});
  loader.load(0, {info("x", DType::kFloat32, {Dim::symbol("n")}), info("input", DType::kFloat32, {1})},
              Report::kYes);
  const std::string out = capture.out();
  EXPECT_NE(
      out.find("[W] Input tensor: inp | Metadata was provided, but the input does not exist in one or more "
               "runners.\n    Maybe you meant to set: input?\n"),
      std::string::npos);
  EXPECT_NE(
      out.find(
          "[W] Input tensor wildcard: z* | Metadata was provided, but none of the matched inputs exist in "
          "one or more runners.\n"),
      std::string::npos);
  EXPECT_NE(out.find("Provided input shape: BoundedShape(['n'], min=None, max=None) is dynamic."),
            std::string::npos);
  EXPECT_NE(out.find("[W] Extra items in val_range: {'q'}.\n"), std::string::npos);
}

TEST(DataLoader, SilentWhenAskedToBe) {
  const DataLoader loader({.ranges = {{"q", {PythonValue(0.0), PythonValue(1.0)}}}});
  log::Capture capture({.threshold = log::Severity::kUltraVerbose});
  loader.load(0, {info("x", DType::kFloat32, {Dim()})}, Report::kNo);
  EXPECT_EQ(capture.out(), "");
}

TEST(DataLoader, TypesBeyondNumPy) {
  const TensorList data =
      DataLoader({}).load(0, {info("b", DType::kBFloat16, {3}), info("i", DType::kInt4, {5})}, Report::kYes);
  EXPECT_EQ(data[0].tensor.dtype(), DType::kBFloat16);
  EXPECT_EQ(data[1].tensor.dtype(), DType::kInt4);
  EXPECT_EQ(data[1].tensor.shape(), (Shape{5}));
}

TEST(DataLoader, RefusesWhatCannotBeDrawn) {
  EXPECT_NE(error_of([] { DataLoader({.seed = -1}); }), "");
  EXPECT_NE(error_of([] { DataLoader({.seed = 0xffffffff, .iterations = 2}); }), "");
  const auto load = [](DType type, Type shape, ValueRange range) {
    shape.dtype = type;
    return error_of([&] { DataLoader({.ranges = {{"", range}}}).load(0, {{"x", shape}}, Report::kYes); });
  };
  const Type vector = Type::tensor(DType::kFloat32, Dims{2});
  EXPECT_NE(load(DType::kComplex64, vector, {}).find("cannot be drawn at random"), std::string::npos);
  EXPECT_NE(load(DType::kUndefined, vector, {}).find("does not say the element type"), std::string::npos);
  EXPECT_NE(load(DType::kInt8, vector, {PythonValue(int64_t{0}), PythonValue(int64_t{1000})})
                .find("'x' of type int8"),
            std::string::npos);
  EXPECT_NE(load(DType::kInt32, vector, {PythonValue(int64_t{5}), PythonValue(int64_t{2})})
                .find("range of values that the type holds"),
            std::string::npos);
  const Type huge = Type::tensor(DType::kFloat32, Dims{int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_NE(load(DType::kFloat32, huge, {}), "")
      << "an extent the user made up must not bring the machine down";
}

/// Without a declared rank any rank is valid.
TEST(DataLoader, AnInputOfUnknownRankTakesTheUsersShape) {
  const TensorInfo input = {"x", Type{.kind = Type::Kind::kTensor, .dtype = DType::kFloat32}};
  {
    const log::Capture capture;
    const TensorList data = DataLoader({.shapes = {{"x", {2, 3}}}}).load(0, {input}, Report::kYes);
    EXPECT_EQ(find(data, "x")->shape(), (Shape{2, 3}));
    EXPECT_EQ(
        capture.out(),
        "[I] Will generate inference input data according to provided TensorMetadata: {x [shape=(2, 3)]}\n");
  }
  {
    const log::Capture capture;
    const TensorList data =
        DataLoader({.shapes = {{"x", {Dim::symbol("n"), 3}}}}).load(0, {input}, Report::kYes);
    EXPECT_EQ(find(data, "x")->shape(), (Shape{1, 3}));
    EXPECT_NE(capture.out().find("Will generate data of shape: [1, 3]."), std::string::npos) << capture.out();
  }
  const log::Capture capture;
  const TensorList data = DataLoader({}).load(0, {input}, Report::kYes);
  EXPECT_EQ(find(data, "x")->shape(), Shape());
  EXPECT_EQ(capture.out(),
            "[W] Input tensor: x | Its rank is unknown. Will generate a scalar.\n"
            "    If this is incorrect, give its shape or its data.\n");
}

}  // namespace
}  // namespace assay::data_loader_test
