// Operators that select elements by index, order or value.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/op_test_util.h"

namespace assay::indexing_test {
namespace {

using Ints = std::vector<int64_t>;

Tensor ints(Ints values) { return Tensor::vector(values); }
Tensor grid(Shape shape, Ints values) { return Tensor::from<int64_t>(std::move(shape), values); }

TEST(Gather, CountsNegativeIndicesFromTheEnd) {
  const Tensor x = grid({2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor y = run_op("Gather", 13, {x, grid({1, 2}, {-1, 0})}, {{"axis", int64_t{1}}})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(y.to_int64(), (Ints{2, 0, 5, 3}));
}

TEST(Gather, MovesStringsAndHalves) {
  const Tensor s = run_op("Gather", 13, {Tensor::vector<std::string>({"a", "b"}), ints({1})})[0];
  EXPECT_EQ(s.span<std::string>()[0], "b");
  const Tensor h = convert(Tensor::vector<float>({1.5f, 2.5f}), DType::kFloat16);
  EXPECT_EQ(convert(run_op("Gather", 13, {h, ints({1})})[0], DType::kFloat32).item<float>(), 2.5f);
}

TEST(GatherElements, TakesFewerIndicesThanData) {
  const Tensor x = grid({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(run_op("GatherElements", 13, {x, grid({1, 2}, {1, -1})}, {{"axis", int64_t{0}}})[0].to_int64(),
            (Ints{3, 4}));
  EXPECT_EQ(run_op("GatherElements", 13, {x, grid({2, 1}, {2, 0})}, {{"axis", int64_t{1}}})[0].to_int64(),
            (Ints{2, 3}));
}

TEST(GatherNd, FollowsBatches) {
  const Tensor x = grid({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor y = run_op("GatherND", 13, {x, grid({2, 1}, {1, 0})}, {{"batch_dims", int64_t{1}}})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(y.to_int64(), (Ints{2, 3, 4, 5}));
  EXPECT_EQ(run_op("GatherND", 13, {x, grid({1, 3}, {-1, 0, 1})})[0].to_int64(), Ints{5});
}

TEST(ScatterElements, JoinsUpdatesThatMeet) {
  const Tensor x = Tensor::vector<float>({1, 2, 3}), at = ints({1, -2}),
               updates = Tensor::vector<float>({10, 4});
  const auto result = [&](const char* reduction) {
    const Tensor y = run_op("ScatterElements", 18, {x, at, updates}, {{"reduction", reduction}})[0];
    return y.data<double>()[1];
  };
  EXPECT_EQ(result("none"), 4);
  EXPECT_EQ(result("add"), 16);
  EXPECT_EQ(result("mul"), 80);
  EXPECT_EQ(result("max"), 10);
  EXPECT_EQ(result("min"), 2);
  EXPECT_EQ(x.data<float>()[1], 2) << "the input was written";
}

TEST(ScatterElements, IntegersWrap) {
  const Tensor x = Tensor::vector<int32_t>({INT32_MAX});
  const Tensor y =
      run_op("ScatterElements", 18, {x, ints({0}), Tensor::vector<int32_t>({1})}, {{"reduction", "add"}})[0];
  EXPECT_EQ(y.item<int32_t>(), INT32_MIN);
}

TEST(ScatterNd, ReplacesSlices) {
  const Tensor x = grid({3, 2}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(run_op("ScatterND", 18, {x, grid({2, 1}, {-1, 0}), grid({2, 2}, {9, 8, 7, 6})})[0].to_int64(),
            (Ints{7, 6, 2, 3, 9, 8}));
}

TEST(TopK, OrdersTiesByIndexAndNansAsLargest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = Tensor::vector<double>({1, 3, nan, 3, 2});
  const auto indices = [&](int64_t k, int64_t largest) {
    return run_op("TopK", 11, {x, ints({k})}, {{"largest", largest}}, 2)[1].to_int64();
  };
  EXPECT_EQ(indices(4, 1), (Ints{2, 1, 3, 4}));
  EXPECT_EQ(indices(5, 0), (Ints{0, 4, 1, 3, 2}));
  EXPECT_EQ(indices(0, 1), Ints{});
  const auto y = run_op("TopK", 7, {Tensor::from<float>({2, 2}, {1, 4, 3, 2})},
                        {{"k", int64_t{1}}, {"axis", int64_t{0}}}, 2);
  EXPECT_EQ(y[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(y[1].to_int64(), (Ints{1, 0}));
}

TEST(OneHot, LeavesOutOfRangeIndicesOff) {
  const Tensor y = run_op("OneHot", 11, {ints({1, -1, 3, -4}), Tensor::scalar<float>(3), ints({5, 7})},
                          {{"axis", int64_t{0}}})[0];
  EXPECT_EQ(y.shape(), (Shape{3, 4}));
  EXPECT_EQ(y.to_int64(), (Ints{5, 5, 5, 5, 7, 5, 5, 5, 5, 7, 5, 5}));
}

TEST(NonZero, KnowsTheZerosOfEveryType) {
  const auto places = [](const Tensor& t) { return run_op("NonZero", 13, {t})[0]; };
  EXPECT_EQ(places(Tensor::from<float>({2, 2}, {0, 1, -0.0f, -2})).to_int64(), (Ints{0, 1, 1, 1}));
  EXPECT_EQ(places(convert(Tensor::vector<float>({-0.0f, 1e-7f}), DType::kFloat16)).to_int64(), Ints{1});
  EXPECT_EQ(places(Tensor::vector<std::string>({"", "0"})).to_int64(), Ints{1});
  EXPECT_EQ(places(Tensor::vector<int8_t>({INT8_MIN, 0})).to_int64(), Ints{0});
  EXPECT_EQ(places(convert(Tensor::vector<float>({-0.0f, 2}), DType::kComplex64)).to_int64(), Ints{1});
  EXPECT_EQ(places(Tensor::scalar(1.0f)).shape(), (Shape{0, 1}));
}

TEST(EyeLike, PutsOnesOnTheDiagonalInAnyType) {
  const Tensor x = Tensor::zeros(DType::kFloat32, {2, 3});
  const Tensor y = run_op("EyeLike", 22, {x}, {{"k", int64_t{1}}, {"dtype", int64_t{16}}})[0];
  EXPECT_EQ(y.dtype(), DType::kBFloat16);
  EXPECT_EQ(convert(y, DType::kInt64).to_int64(), (Ints{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(convert(run_op("EyeLike", 22, {x}, {{"k", INT64_MIN}})[0], DType::kInt64).to_int64(), Ints(6, 0));
}

TEST(ScatterElements, BoundsTheSumsThatMeet) {
  const OpDef* op = built_in_ops().find("", "ScatterElements");
  const OpTestNode n("ScatterElements", 18, {true, true, true}, {{"reduction", "add"}}, 1, "");
  EvalContext c(n.node(), n.op(), n.version(),
                {Tensor::vector<double>({0, 0}), ints({0, 0}), Tensor::vector<double>({1, 2})});
  EXPECT_EQ(op->numerics.terms(c), 2);
}

struct Bad {
  const char* name;
  const char* op;
  int opset;
  std::vector<Tensor> inputs;
  AttributeList attributes;
  const char* message;
};

void PrintTo(const Bad& c, std::ostream* out) { *out << c.name; }

class BadIndex : public testing::TestWithParam<Bad> {};

TEST_P(BadIndex, IsRefused) {
  const Bad& c = GetParam();
  const OpTestNode n(c.op, c.opset, std::vector<bool>(c.inputs.size(), true), c.attributes, 2, "");
  EvalContext context(n.node(), n.op(), n.version(), widened(n.op(), c.inputs));
  try {
    n.version().eval(context);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << e.what();
  }
}

const Bad kBad[] = {
    {"Gather", "Gather", 13, {ints({1, 2}), ints({2})}, {}, "index 2 is out of range for axis 0 of extent 2"},
    {"GatherLow", "Gather", 13, {ints({1, 2}), ints({-3})}, {}, "index -3 is out of range"},
    {"GatherFromNothing", "Gather", 13, {ints({}), ints({0})}, {}, "of extent 0"},
    {"GatherElementsRank", "GatherElements", 13, {ints({1}), grid({1, 1}, {0})}, {}, "differ in rank"},
    {"GatherElementsReach",
     "GatherElements",
     13,
     {grid({1, 2}, {0, 1}), grid({2, 1}, {0, 0})},
     {{"axis", int64_t{1}}},
     "reach past data"},
    {"GatherElementsIndex", "GatherElements", 13, {ints({1, 2}), ints({5})}, {}, "index 5 is out of range"},
    {"GatherNdTuple",
     "GatherND",
     13,
     {ints({1}), grid({1, 2}, {0, 0})},
     {},
     "tuples of 2 indices are too long"},
    {"GatherNdIndex", "GatherND", 13, {ints({1}), grid({1, 1}, {1})}, {}, "index 1 is out of range"},
    {"GatherNdBatch",
     "GatherND",
     13,
     {grid({2, 1}, {0, 0}), grid({1, 1}, {0})},
     {{"batch_dims", int64_t{1}}},
     "batches"},
    {"GatherNdBatchDims",
     "GatherND",
     13,
     {ints({1}), ints({0})},
     {{"batch_dims", int64_t{1}}},
     "batch_dims is 1"},
    {"ScatterShape",
     "ScatterElements",
     18,
     {ints({1}), ints({0}), ints({1, 2})},
     {},
     "updates has shape (2,)"},
    {"ScatterIndex", "ScatterElements", 18, {ints({1}), ints({1}), ints({1})}, {}, "index 1 is out of range"},
    {"ScatterReduction",
     "ScatterElements",
     16,
     {ints({1}), ints({0}), ints({1})},
     {{"reduction", "max"}},
     "reduction 'max' is unknown"},
    {"ScatterTypes",
     "ScatterElements",
     18,
     {ints({1}), ints({0}), Tensor::vector<int32_t>({1})},
     {},
     "updates are int32"},
    {"ScatterNdShape",
     "ScatterND",
     18,
     {ints({1}), grid({1, 1}, {0}), grid({1, 1}, {0})},
     {},
     "the indices need (1,)"},
    {"TopKTooMany", "TopK", 11, {ints({1, 2}), ints({3})}, {}, "k is 3, but axis 0 has extent 2"},
    {"TopKNegative", "TopK", 11, {ints({1, 2}), ints({-1})}, {}, "k is -1"},
    {"OneHotDepth", "OneHot", 11, {ints({1}), ints({-1}), ints({0, 1})}, {}, "depth is -1"},
    {"OneHotAbsurd",
     "OneHot",
     11,
     {ints({1}), ints({int64_t{1} << 50}), ints({0, 1})},
     {},
     "bytes that there are"},
    {"OneHotValues", "OneHot", 11, {ints({1}), ints({1}), ints({0})}, {}, "shape (1,)"},
    {"EyeLikeRank", "EyeLike", 22, {ints({1})}, {}, "rank 2"},
};
INSTANTIATE_TEST_SUITE_P(All, BadIndex, testing::ValuesIn(kBad),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::indexing_test
