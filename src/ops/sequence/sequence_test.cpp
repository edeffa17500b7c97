#include <gtest/gtest.h>

#include "ops/op_test_util.h"

namespace assay::sequence_test {
namespace {

using Ints = std::vector<int64_t>;

Tensor ints(const Ints& v) { return Tensor::vector(v); }
Tensor number(int64_t v) { return Tensor::scalar(v); }
Tensor sequence(std::vector<Tensor> elements) { return Tensor::sequence(std::move(elements)); }

const Tensor kA = ints({1, 2}), kB = ints({3}), kC = ints({4, 5, 6});
const Tensor kAbc = sequence({kA, kB, kC});

Type float_tensor_type(Dims dims) { return Type::tensor(DType::kFloat32, std::move(dims)); }
Type float_sequence(Dims dims) { return sequence_of(float_tensor_type(std::move(dims))); }

/// The elements of a sequence of integer vectors.
std::vector<Ints> lists(const Tensor& s) {
  std::vector<Ints> out;
  for (const Tensor& t : s.elements()) out.push_back(t.to_int64());
  return out;
}

Tensor run1(std::string_view op, std::vector<Tensor> inputs, AttributeList attributes = {}, int opset = 18) {
  return run_op(op, opset, std::move(inputs), std::move(attributes))[0];
}

TEST(SequenceConstruct, KeepsTheOrder) {
  EXPECT_TRUE(run1("SequenceConstruct", {kA, kB, kC}).identical(kAbc));
  EXPECT_THROW(run1("SequenceConstruct", {kA, Tensor::scalar(1.0F)}), Error) << "two element types";
  EXPECT_THROW(run1("SequenceConstruct", {kAbc}), Error) << "a sequence holds tensors only";
}

TEST(SequenceConstruct, InfersWhatElementsHaveInCommon) {
  EXPECT_EQ(infer_op("SequenceConstruct", 11,
                     {float_tensor_type({2, Dim::symbol("n")}), float_tensor_type({3, Dim::symbol("n")})})
                .str(),
            "seq(float32[?, n])");
  EXPECT_EQ(infer_op("SequenceConstruct", 11, {float_tensor_type({2}), float_tensor_type({2, 2})}).str(),
            "seq(float32)");
  EXPECT_EQ(infer_op("SequenceConstruct", 11, {float_tensor_type({2}), Type()}).str(), "seq(?)");
  EXPECT_THROW(infer_op("SequenceConstruct", 11, {float_tensor_type({2}), Type::tensor(DType::kInt64)}),
               Error);
}

TEST(SequenceEmpty, HasTheTypeOfItsAttribute) {
  EXPECT_EQ(run1("SequenceEmpty", {}).numel(), 0);
  EXPECT_EQ(infer_op("SequenceEmpty", 11, {}).str(), "seq(float32)");
  EXPECT_EQ(infer_op("SequenceEmpty", 11, {}, {{"dtype", int64_t{7}}}).str(), "seq(int64)");
  for (const int64_t bad : {0, 99, 128, -1}) {
    EXPECT_THROW(infer_op("SequenceEmpty", 11, {}, {{"dtype", bad}}), Error) << bad;
    EXPECT_THROW(run1("SequenceEmpty", {}, {{"dtype", bad}}), Error) << bad;
  }
}

TEST(SequenceInsert, PutsATensorBeforeThePosition) {
  const Tensor ab = sequence({kA, kB});
  EXPECT_EQ(lists(run1("SequenceInsert", {ab, kC})), (std::vector<Ints>{{1, 2}, {3}, {4, 5, 6}}));
  EXPECT_EQ(lists(run1("SequenceInsert", {ab, kC, number(0)}))[0], (Ints{4, 5, 6}));
  EXPECT_EQ(lists(run1("SequenceInsert", {ab, kC, number(2)}))[2], (Ints{4, 5, 6}));
  EXPECT_EQ(lists(run1("SequenceInsert", {ab, kC, number(-1)}))[1], (Ints{4, 5, 6}));
  EXPECT_EQ(lists(run1("SequenceInsert", {ab, kC, ints({-2})}))[0], (Ints{4, 5, 6}));
  EXPECT_EQ(run1("SequenceInsert", {sequence({}), kC, Tensor::scalar(int32_t{0})}).numel(), 1);
  EXPECT_EQ(ab.numel(), 2) << "the input stays as it is";
}

TEST(SequenceInsert, RefusesWhatDoesNotFit) {
  const Tensor ab = sequence({kA, kB});
  for (const int64_t bad : {3, -3}) EXPECT_THROW(run1("SequenceInsert", {ab, kC, number(bad)}), Error) << bad;
  EXPECT_THROW(run1("SequenceInsert", {ab, kC, number(INT64_MIN)}), Error);
  EXPECT_THROW(run1("SequenceInsert", {ab, kC, ints({0, 1})}), Error);
  EXPECT_THROW(run1("SequenceInsert", {ab, Tensor::scalar(1.0F)}), Error);
  EXPECT_THROW(run1("SequenceInsert", {kA, kC}), Error);
  EXPECT_THROW(run1("SequenceInsert", {Tensor::sequence({}), kAbc}), Error);
}

TEST(SequenceInsert, InfersTheElementTypeFromEither) {
  EXPECT_EQ(infer_op("SequenceInsert", 11, {float_sequence({2, 3}), float_tensor_type({2, 4})}).str(),
            "seq(float32[2, ?])");
  EXPECT_EQ(infer_op("SequenceInsert", 11, {float_sequence({2}), Type()}).str(), "seq(float32)");
  EXPECT_EQ(infer_op("SequenceInsert", 11, {Type(), float_tensor_type({2})}).str(), "seq(float32)");
  EXPECT_EQ(infer_op("SequenceInsert", 11, {Type(), Type()}).str(), "seq(?)");
  EXPECT_THROW(infer_op("SequenceInsert", 11, {float_sequence({2}), Type::tensor(DType::kInt8)}), Error);
  EXPECT_THROW(infer_op("SequenceInsert", 11, {float_tensor_type({2}), float_tensor_type({2})}), Error);
}

TEST(SequenceErase, DropsOneTensor) {
  EXPECT_EQ(lists(run1("SequenceErase", {kAbc})), (std::vector<Ints>{{1, 2}, {3}}));
  EXPECT_EQ(lists(run1("SequenceErase", {kAbc, number(0)})), (std::vector<Ints>{{3}, {4, 5, 6}}));
  EXPECT_EQ(lists(run1("SequenceErase", {kAbc, number(-2)})), (std::vector<Ints>{{1, 2}, {4, 5, 6}}));
  EXPECT_EQ(infer_op("SequenceErase", 11, {float_sequence({2})}).str(), "seq(float32[2])");
  for (const int64_t bad : {3, -4}) EXPECT_THROW(run1("SequenceErase", {kAbc, number(bad)}), Error) << bad;
  EXPECT_THROW(run1("SequenceErase", {sequence({})}), Error);
  EXPECT_THROW(run1("SequenceErase", {sequence({}), number(0)}), Error);
}

TEST(SequenceAt, GivesOneTensor) {
  EXPECT_TRUE(run1("SequenceAt", {kAbc, number(1)}).identical(kB));
  EXPECT_TRUE(run1("SequenceAt", {kAbc, Tensor::scalar(int32_t{-1})}).identical(kC));
  EXPECT_EQ(infer_op("SequenceAt", 11, {float_sequence({2, 3}), number(0)}).str(), "float32[2, 3]");
  EXPECT_EQ(infer_op("SequenceAt", 11, {Type(), number(0)}).str(), "unknown");
  for (const int64_t bad : {3, -4}) EXPECT_THROW(run1("SequenceAt", {kAbc, number(bad)}), Error) << bad;
  EXPECT_THROW(run1("SequenceAt", {sequence({}), number(0)}), Error);
  EXPECT_THROW(run1("SequenceAt", {Tensor::optional(kA), number(0)}), Error);
}

TEST(SequenceLength, Counts) {
  EXPECT_EQ(run1("SequenceLength", {kAbc}).item<int64_t>(), 3);
  EXPECT_EQ(run1("SequenceLength", {sequence({})}).item<int64_t>(), 0);
  EXPECT_EQ(infer_op("SequenceLength", 11, {float_sequence({2})}).str(), "int64[]");
  EXPECT_THROW(run1("SequenceLength", {kA}), Error);
}

TEST(SplitToSequence, CutsBySizeOrByList) {
  const Tensor x = ints({1, 2, 3, 4, 5});
  EXPECT_EQ(lists(run1("SplitToSequence", {x, number(2)})), (std::vector<Ints>{{1, 2}, {3, 4}, {5}}));
  EXPECT_EQ(lists(run1("SplitToSequence", {x, ints({2, 0, 3})})), (std::vector<Ints>{{1, 2}, {}, {3, 4, 5}}));
  EXPECT_EQ(run1("SplitToSequence", {x}).numel(), 5);
  EXPECT_EQ(run1("SplitToSequence", {x}).elements()[4].shape(), Shape{1});
  EXPECT_EQ(run1("SplitToSequence", {x}, {{"keepdims", int64_t{0}}}).elements()[4].shape(), Shape{});
  EXPECT_EQ(run1("SplitToSequence", {x, number(1)}, {{"keepdims", int64_t{0}}}).elements()[4].shape(),
            Shape{1})
      << "keepdims does not matter with split";
  EXPECT_EQ(run1("SplitToSequence", {ints({})}).numel(), 0);
  const Tensor m = Tensor::from<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor columns = run1("SplitToSequence", {m}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}});
  EXPECT_EQ(lists(columns), (std::vector<Ints>{{1, 4}, {2, 5}, {3, 6}}));
}

TEST(SplitToSequence, RefusesWhatDoesNotFit) {
  const Tensor x = ints({1, 2, 3});
  for (const int64_t bad : {0, -1}) {
    EXPECT_THROW(run1("SplitToSequence", {x, number(bad)}), Error) << bad;
    EXPECT_THROW(infer_op("SplitToSequence", 11, {x, number(bad)}), Error) << bad;
  }
  for (const Ints& bad : {Ints{1, 1}, Ints{4, -1}, Ints{INT64_MAX, INT64_MAX, 5}}) {
    EXPECT_THROW(run1("SplitToSequence", {x, ints(bad)}), Error);
    EXPECT_THROW(infer_op("SplitToSequence", 11, {x, ints(bad)}), Error);
  }
  EXPECT_THROW(run1("SplitToSequence", {x}, {{"axis", int64_t{1}}}), Error);
  EXPECT_THROW(run1("SplitToSequence", {number(1)}), Error);
  EXPECT_THROW(run1("SplitToSequence", {x, Tensor::from<int64_t>({1, 1}, {1})}), Error);
  EXPECT_THROW(run1("SplitToSequence", {Tensor::zeros(DType::kFloat32, {int64_t{1} << 40, 0})}), Error)
      << "no sequence of a trillion empty tensors";
}

TEST(SplitToSequence, InfersTheElement) {
  const Type x = float_tensor_type({6, Dim::symbol("n")});
  const auto infer = [&](std::vector<InferInput> inputs, AttributeList attributes = {}) {
    return infer_op("SplitToSequence", 11, std::move(inputs), std::move(attributes)).str();
  };
  EXPECT_EQ(infer({x}), "seq(float32[1, n])");
  EXPECT_EQ(infer({x}, {{"keepdims", int64_t{0}}}), "seq(float32[n])");
  EXPECT_EQ(infer({x, number(2)}), "seq(float32[2, n])");
  EXPECT_EQ(infer({x, number(4)}), "seq(float32[?, n])") << "the last is shorter";
  EXPECT_EQ(infer({x, number(2)}, {{"axis", int64_t{1}}}), "seq(float32[6, ?])");
  EXPECT_EQ(infer({x, ints({3, 3})}), "seq(float32[3, n])");
  EXPECT_EQ(infer({x, ints({2, 4})}), "seq(float32[?, n])");
  EXPECT_EQ(infer({x, Type::tensor(DType::kInt64)}), "seq(float32[?, n])");
  EXPECT_EQ(infer({Type::tensor(DType::kFloat32)}), "seq(float32)");
}

TEST(ConcatFromSequence, JoinsAndStacks) {
  const AttributeList along0 = {{"axis", int64_t{0}}};
  EXPECT_EQ(run1("ConcatFromSequence", {kAbc}, along0).to_int64(), (Ints{1, 2, 3, 4, 5, 6}));
  const Tensor pair = sequence({ints({1, 2}), ints({3, 4})});
  const Tensor rows = run1("ConcatFromSequence", {pair}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}});
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows.to_int64(), (Ints{1, 2, 3, 4}));
  const Tensor columns =
      run1("ConcatFromSequence", {pair}, {{"axis", int64_t{-1}}, {"new_axis", int64_t{1}}});
  EXPECT_EQ(columns.to_int64(), (Ints{1, 3, 2, 4}));
  const Tensor nibbles =
      sequence({convert(ints({1, -2, 3}), DType::kInt4), convert(ints({-4}), DType::kInt4)});
  EXPECT_EQ(convert(run1("ConcatFromSequence", {nibbles}, along0), DType::kInt64).to_int64(),
            (Ints{1, -2, 3, -4}));
  const Tensor words =
      sequence({Tensor::vector<std::string>({"a"}), Tensor::vector<std::string>({"b", "c"})});
  EXPECT_TRUE(
      run1("ConcatFromSequence", {words}, along0).identical(Tensor::vector<std::string>({"a", "b", "c"})));
}

TEST(ConcatFromSequence, RefusesWhatDoesNotFit) {
  const AttributeList along0 = {{"axis", int64_t{0}}};
  EXPECT_THROW(run1("ConcatFromSequence", {sequence({})}, along0), Error);
  EXPECT_THROW(run1("ConcatFromSequence", {kAbc}, {{"axis", int64_t{1}}}), Error);
  EXPECT_THROW(run1("ConcatFromSequence", {kAbc}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}}), Error);
  EXPECT_THROW(run1("ConcatFromSequence", {kAbc}, {{"axis", int64_t{0}}, {"new_axis", int64_t{2}}}), Error);
  EXPECT_THROW(run1("ConcatFromSequence", {sequence({kA, Tensor::from<int64_t>({1, 1}, {1})})}, along0),
               Error);
  EXPECT_THROW(run1("ConcatFromSequence", {sequence({number(1), number(2)})}, along0), Error);
  EXPECT_THROW(run1("ConcatFromSequence", {kA}, along0), Error);
}

TEST(ConcatFromSequence, InfersRankAndTheOtherExtents) {
  const auto infer = [](int64_t axis, int64_t new_axis) {
    return infer_op("ConcatFromSequence", 11, {float_sequence({2, 3})},
                    {{"axis", axis}, {"new_axis", new_axis}})
        .str();
  };
  EXPECT_EQ(infer(0, 0), "float32[?, 3]");
  EXPECT_EQ(infer(-1, 0), "float32[2, ?]");
  EXPECT_EQ(infer(-1, 1), "float32[2, 3, ?]");
  EXPECT_EQ(infer(-3, 1), "float32[?, 2, 3]");
  EXPECT_THROW(infer(2, 0), Error);
  EXPECT_EQ(infer_op("ConcatFromSequence", 11, {Type()}, {{"axis", int64_t{9}}}).str(), "unknown");
}

TEST(Optional, HoldsItsInputOrNothing) {
  EXPECT_TRUE(run1("Optional", {kA}).elements()[0].identical(kA));
  EXPECT_TRUE(run1("Optional", {kAbc}).elements()[0].identical(kAbc));
  EXPECT_EQ(run1("Optional", {}, {{"type", float_tensor_type({2})}}).numel(), 0);
  EXPECT_EQ(infer_op("Optional", 15, {float_tensor_type({2})}).str(), "optional(float32[2])");
  EXPECT_EQ(infer_op("Optional", 15, {}, {{"type", float_sequence({2})}}).str(), "optional(seq(float32[2]))");
  EXPECT_THROW(infer_op("Optional", 15, {}), Error);
  EXPECT_THROW(run1("Optional", {}), Error);
}

TEST(OptionalGetElement, GivesWhatIsThere) {
  EXPECT_TRUE(run1("OptionalGetElement", {Tensor::optional(kAbc)}).identical(kAbc));
  EXPECT_TRUE(run1("OptionalGetElement", {kA}).identical(kA));
  EXPECT_THROW(run1("OptionalGetElement", {Tensor::optional({})}), Error);
  EXPECT_EQ(infer_op("OptionalGetElement", 18, {optional_of(float_sequence({2}))}).str(), "seq(float32[2])");
  EXPECT_EQ(infer_op("OptionalGetElement", 18, {float_tensor_type({2})}).str(), "float32[2]");
}

TEST(OptionalHasElement, IsFalseOnlyForNothing) {
  EXPECT_TRUE(run1("OptionalHasElement", {Tensor::optional(kA)}).item<bool>());
  EXPECT_TRUE(run1("OptionalHasElement", {kA}).item<bool>());
  EXPECT_TRUE(run1("OptionalHasElement", {sequence({})}).item<bool>());
  EXPECT_FALSE(run1("OptionalHasElement", {Tensor::optional({})}).item<bool>());
  EXPECT_FALSE(run1("OptionalHasElement", {}).item<bool>());
  EXPECT_FALSE(run1("OptionalHasElement", {Tensor()}).item<bool>());
  EXPECT_EQ(infer_op("OptionalHasElement", 18, {optional_of(float_tensor_type({2}))}).str(), "bool[]");
}

TEST(Identity, GivesAnyValueBack) {
  EXPECT_TRUE(run1("Identity", {kAbc}).shares_storage(kAbc));
  EXPECT_EQ(run1("Identity", {Tensor::optional({})}).dtype(), DType::kOptional);
  EXPECT_EQ(infer_op("Identity", 16, {optional_of(float_sequence({2}))}).str(), "optional(seq(float32[2]))");
}

}  // namespace
}  // namespace assay::sequence_test
