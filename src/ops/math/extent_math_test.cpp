// Shape inference of element-wise operators, and the shape arithmetic that passes through them.
#include "ops/math/extent_math.h"

#include <gtest/gtest.h>

#include "ops/op_test_util.h"

namespace assay::extent_math_test {
namespace {

Dim sym(const char* name) { return Dim::symbol(name); }
Tensor ints(std::vector<int64_t> v) { return Tensor::vector(v); }

struct ShapeCase {
  const char* op;
  int64_t opset;
  std::vector<InferInput> inputs;
  const char* expected;
};

Type floats(Dims dims) { return Type::tensor(DType::kFloat32, std::move(dims)); }
Type bools(Dims dims) { return Type::tensor(DType::kBool, std::move(dims)); }

TEST(Infer, BroadcastsKnownSymbolicAndUnknownExtents) {
  const Type unknown_rank = Type::tensor(DType::kFloat32);
  const ShapeCase cases[] = {
      {"Add", 14, {floats({sym("n"), 3}), floats({1, 3})}, "float32[n, 3]"},
      {"Add", 14, {floats({sym("n"), 1}), floats({4, 3})}, "float32[4, 3]"},
      {"Add", 14, {floats({sym("n")}), floats({sym("m")})}, "float32[?]"},
      {"Add", 14, {unknown_rank, floats({3})}, "float32"},
      {"Max", 13, {floats({2, 1}), floats({3}), floats({})}, "float32[2, 3]"},
      {"Less", 13, {floats({2, 1}), floats({3})}, "bool[2, 3]"},
      {"IsNaN", 13, {floats({2, sym("n")})}, "bool[2, n]"},
      {"Where", 16, {bools({2, 1}), floats({3}), floats({})}, "float32[2, 3]"},
      {"Pow", 13, {floats({2, 1}), Type::tensor(DType::kInt64, Dims{3})}, "float32[2, 3]"},
      {"Det", 11, {floats({sym("n"), 3, 3})}, "float32[n]"},
      {"Elu", 6, {floats({sym("n")})}, "float32[n]"},
      {"SwiGLU", 28, {floats({sym("n"), 3}), floats({2, sym("m")})}, "float32[2, 3]"},
  };
  for (const ShapeCase& c : cases) EXPECT_EQ(infer_op(c.op, c.opset, c.inputs).str(), c.expected) << c.op;
}

TEST(Infer, RefusesWhatCannotMatch) {
  EXPECT_THROW(infer_op("Add", 14, {floats({2}), floats({3})}), Error);
  EXPECT_THROW(infer_op("PRelu", 16, {floats({3}), floats({2, 3})}), Error);
  EXPECT_THROW(infer_op("PRelu", 16, {floats({3}), floats({2})}), Error);
  EXPECT_THROW(infer_op("Det", 11, {floats({2, 3})}), Error);
  EXPECT_THROW(infer_op("SwiGLU", 28, {floats({2}), floats({1})}), Error);
  EXPECT_THROW(infer_op("Mod", 13, {floats({2}), floats({2})}), Error);
  EXPECT_THROW(infer_op("BitShift", 11, {Type::tensor(DType::kUInt8), Type::tensor(DType::kUInt8)},
                        {{"direction", std::string("UP")}}),
               Error);
}

struct ExtentCase {
  const char* op;
  std::vector<InferInput> inputs;
  std::optional<Dims> expected;
};

TEST(Propagate, CarriesExtentsThroughArithmetic) {
  const InferInput shape(Dims{sym("n"), 3, 8});
  const ExtentCase cases[] = {
      {"Add", {shape, ints({1, 2, -9})}, Dims{sym("n+1"), 5, Dim()}},
      {"Add", {shape, ints({-1, -1, -1})}, Dims{sym("n-1"), 2, 7}},
      {"Sub", {shape, ints({2})}, Dims{sym("n-2"), 1, 6}},
      {"Sub", {shape, ints({-2})}, Dims{sym("n+2"), 5, 10}},
      {"Sub", {shape, shape}, Dims{0, 0, 0}},
      {"Mul", {shape, ints({2})}, Dims{sym("2*n"), 6, 16}},
      {"Mul", {shape, ints({1, -1, 0})}, Dims{sym("n"), Dim(), 0}},
      {"Div", {shape, ints({2})}, Dims{sym("n/2"), 1, 4}},
      {"Div", {shape, ints({0, 0, 4})}, Dims{Dim(), Dim(), 2}},
      {"Mod", {ints({7, 9}), ints({4})}, Dims{3, 1}},
      {"Max", {shape, ints({0, 4, -1})}, Dims{sym("n"), 4, 8}},
      {"Min", {shape, ints({4}), ints({9})}, Dims{Dim(), 3, 4}},
      {"Max",
       {InferInput(Dims{sym("n+2"), sym("2*n")}), InferInput(Dims{sym("n+1"), sym("n")})},
       Dims{sym("n+2"), sym("2*n")}},
      {"Min",
       {InferInput(Dims{sym("n+2"), sym("2*n")}), InferInput(Dims{sym("n+1"), sym("n")})},
       Dims{sym("n+1"), sym("n")}},
      {"Max",
       {InferInput(Dims{sym("n+m"), sym("n"), sym("n/2")}), InferInput(Dims{sym("m"), sym("m"), sym("n")})},
       Dims{sym("n+m"), Dim(), Dim()}},
      {"Max",
       {InferInput(Dims{sym("n+4"), sym("n"), sym("2*n")}), ints({4, 1, 1})},
       Dims{sym("n+4"), Dim(), Dim()}},
      {"Equal", {shape, ints({-1, 3, 4})}, Dims{0, 1, 0}},
      {"Add", {shape, ints({1, 2})}, std::nullopt},
      {"Add", {shape, Type::tensor(DType::kInt64, Dims{3})}, std::nullopt},
  };
  for (const ExtentCase& c : cases) {
    std::vector<InferInput> inputs = c.inputs;
    if (c.expected == std::nullopt && inputs[1].value.defined()) {
      EXPECT_THROW(infer_op(c.op, 14, inputs), Error) << "3 extents with 2 numbers";
      continue;
    }
    EXPECT_EQ(infer_op(c.op, 14, inputs).extents[0], c.expected) << c.op;
  }
}

/// 256 less an extent may be negative; Max with 0 is not the same then, and dividing truncates.
TEST(Propagate, ADifferenceMayBeNegative) {
  const InferInput left(Dims{sym("256-n")}), next(Dims{sym("n-1")});
  const ExtentCase cases[] = {
      {"Max", {left, ints({0})}, std::nullopt},
      {"Max", {next, ints({0})}, Dims{sym("n-1")}},
      {"Min", {left, ints({-1})}, std::nullopt},
      {"Equal", {left, ints({-1})}, std::nullopt},
      {"Equal", {next, ints({-1})}, Dims{0}},
      {"Div", {left, ints({2})}, std::nullopt},
      {"Div", {next, ints({2})}, Dims{sym("(n+1)/2-1")}},
      {"Max", {left, left}, Dims{sym("256-n")}},
      {"Add", {left, ints({3})}, Dims{sym("259-n")}},
  };
  for (const ExtentCase& c : cases) EXPECT_EQ(infer_op(c.op, 14, c.inputs).extents[0], c.expected) << c.op;
  const InferInput limit = InferInput::scalar_extent(sym("n-4"));
  EXPECT_EQ(infer_op("Range", 11, {Tensor::scalar(int64_t{0}), limit, Tensor::scalar(int64_t{1})}).str(),
            "int64[?]");
  EXPECT_EQ(infer_op("Reshape", 14, {floats({sym("m"), 6}), left}).str(), "float32[6*m]")
      << "one extent: all elements";
  EXPECT_EQ(
      infer_op("Reshape", 14, {floats({sym("m"), 6}), InferInput(Dims{2, sym("n-2"), sym("n-3")})}).str(),
      "float32[2, ?, ?]");
}

TEST(Propagate, TextsOfSymbolsSayTheirSign) {
  for (const char* text : {"n", "n*m", "n-1", "(n+5)/2", "n+m-2", "(n*4-3)/2+1", "((n+2)-3)/2+1"})
    EXPECT_TRUE(is_not_negative(sym(text))) << text;
  for (const char* text : {"n-2", "4-n", "n-m", "(n-2)/2", "n/2-1", "batch-size", "n-", "(n-1", "-n"})
    EXPECT_FALSE(is_not_negative(sym(text))) << text;
  EXPECT_FALSE(is_not_negative(Dim::symbol(std::string(1000, '(') + "-"))) << "as deep as somebody likes";
}

TEST(Propagate, KeepsQuietWhenANumberDoesNotFit) {
  EXPECT_EQ(infer_op("Mul", 14, {ints({INT64_MAX}), ints({2})}).extents[0], std::nullopt);
  const InferInput narrow(Tensor::vector<int32_t>({INT32_MAX}));
  EXPECT_EQ(infer_op("Add", 14, {narrow, narrow}).extents[0], std::nullopt) << "wraps at run time";
}

TEST(Propagate, ChoosesThroughWhere) {
  const InferInput shape(Dims{sym("n"), 3, 8}), mask(Tensor::vector(std::vector<bool>{true, false, true}));
  EXPECT_EQ(infer_op("Where", 16, {mask, shape, ints({5})}).extents[0], (Dims{sym("n"), 5, 8}));
  const InferInput open(Type::tensor(DType::kBool, Dims{3}));
  EXPECT_EQ(infer_op("Where", 16, {open, shape, ints({5})}).extents[0], std::nullopt);
}

TEST(Propagate, RangeKnowsItsLength) {
  const auto scalar = [](int64_t v) { return InferInput(Tensor::scalar(v)); };
  EXPECT_EQ(infer_op("Range", 11, {scalar(2), scalar(9), scalar(3)}).str(), "int64[3]");
  const InferInput n = InferInput::scalar_extent(sym("n"));
  EXPECT_EQ(infer_op("Range", 11, {scalar(0), n, scalar(1)}).str(), "int64[n]");
  EXPECT_EQ(infer_op("Range", 11, {scalar(0), n, scalar(2)}).str(), "int64[?]");
  EXPECT_EQ(infer_op("Range", 11, {Tensor::scalar(0.f), Tensor::scalar(1.f), Tensor::scalar(0.25f)}).str(),
            "float32[4]");
  EXPECT_THROW(infer_op("Range", 11, {scalar(0), scalar(1), scalar(0)}), Error);
  EXPECT_THROW(infer_op("Range", 11, {ints({1, 2}), scalar(1), scalar(0)}), Error);
}

}  // namespace
}  // namespace assay::extent_math_test
