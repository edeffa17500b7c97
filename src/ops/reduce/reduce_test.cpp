// Reductions, places of extremes, running sums: values, axes, empty sets, shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "ops/op_test_util.h"

namespace assay::reduce_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename T>
std::vector<T> values(const Tensor& t) {
  const auto s = t.span<T>();
  return {s.begin(), s.end()};
}

AttributeList axes(std::vector<int64_t> a, int64_t keepdims = 1) {
  return {{"axes", std::move(a)}, {"keepdims", keepdims}};
}

struct ReduceCase {
  const char* op;
  double of_rows[2];  ///< for [[1, -2, 4], [3, 0.5, 2]] reduced along axis 1
  double of_nothing;
};

TEST(Reduce, GivesTheSpecifiedValues) {
  const Tensor x = Tensor::from<double>({2, 3}, std::vector<double>{1, -2, 4, 3, 0.5, 2});
  const Tensor nothing = Tensor::zeros(DType::kFloat64, {2, 0});
  const ReduceCase cases[] = {
      {"ReduceSum", {3, 5.5}, 0},
      {"ReduceMean", {1, 5.5 / 3}, std::nan("")},
      {"ReduceMax", {4, 3}, -kInf},
      {"ReduceMin", {-2, 0.5}, kInf},
      {"ReduceProd", {-8, 3}, 1},
      {"ReduceSumSquare", {21, 13.25}, 0},
      {"ReduceL1", {7, 5.5}, 0},
      {"ReduceL2", {std::sqrt(21.0), std::sqrt(13.25)}, 0},
      {"ReduceLogSum", {std::log(3.0), std::log(5.5)}, -kInf},
      {"ReduceLogSumExp", {4.050945763522998, 3.371539031852683}, -kInf},
  };
  for (const ReduceCase& c : cases) {
    const Tensor rows = run_op(c.op, 11, {x}, axes({-1}, 0))[0],
                 none = run_op(c.op, 11, {nothing}, axes({1}))[0];
    ASSERT_EQ(rows.shape(), (Shape{2})) << c.op;
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(rows.data<double>()[i], c.of_rows[i], 1e-14 * std::abs(c.of_rows[i])) << c.op;
    ASSERT_EQ(none.shape(), (Shape{2, 1})) << c.op;
    const double empty = none.data<double>()[1];
    EXPECT_TRUE(empty == c.of_nothing || (std::isnan(empty) && std::isnan(c.of_nothing)))
        << c.op << ": " << empty;
  }
}

TEST(Reduce, WalksAnyChoiceOfAxes) {
  std::mt19937 random(19);
  for (int round = 0; round < 200; ++round) {
    Shape shape;
    std::vector<int64_t> chosen;
    for (int64_t d = static_cast<int64_t>(random() % 5); d >= 0; --d) {
      if (random() % 2) chosen.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(static_cast<int64_t>(random() % 12 + (random() % 4 != 0)));
    }
    Tensor x = Tensor::allocate(DType::kInt64, shape);
    for (int64_t& v : x.mutable_span<int64_t>()) v = static_cast<int64_t>(random() % 100);
    const auto attributes = axes(chosen, 1);
    const Tensor y = run_op("ReduceSum", 11, {x}, attributes)[0];
    std::vector<int64_t> expected(static_cast<size_t>(y.numel()), 0);
    const std::vector<int64_t> strides = y.shape().strides();
    for (int64_t i = 0; i < x.numel(); ++i) {
      int64_t at = 0, rest = i;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        at += y.dim(d) == 1 ? 0 : rest % shape[d] * strides[d];
      expected[static_cast<size_t>(at)] += x.data<int64_t>()[i];
    }
    ASSERT_EQ(values<int64_t>(y), expected) << shape.str();
  }
}

TEST(Reduce, SplitsWideRowsAndManyOutputs) {
  const Tensor ones =
      run_op("Add", 14, {Tensor::zeros(DType::kFloat64, {3, 41, 2003}), Tensor::scalar<double>(1)})[0];
  const std::pair<std::vector<int64_t>, double> sums[] = {{{1}, 41}, {{2}, 2003}, {{0, 2}, 3 * 2003}};
  for (const auto& [reduced, expected] : sums) {
    const Tensor y = run_op("ReduceSum", 11, {ones}, axes(reduced))[0];
    for (const double v : y.span<double>()) ASSERT_EQ(v, expected);
  }
  EXPECT_EQ(run_op("ReduceSum", 11, {ones})[0].item<double>(), 3 * 41 * 2003);
}

TEST(Reduce, AxesBecomeAnInputAndNothingToReduceStillTransforms) {
  const Tensor x = Tensor::from<double>({1, 2}, std::vector<double>{-3, 4});
  const AttributeList noop{{"noop_with_empty_axes", int64_t{1}}};
  const Tensor none = Tensor::vector(std::vector<int64_t>{});
  EXPECT_EQ(values<double>(run_op("ReduceSum", 13, {x, Tensor::vector<int64_t>({0})})[0]),
            (std::vector<double>{-3, 4}));
  EXPECT_EQ(run_op("ReduceSum", 13, {x, none})[0].item<double>(), 1) << "all axes";
  EXPECT_EQ(values<double>(run_op("ReduceSum", 13, {x}, noop)[0]), (std::vector<double>{-3, 4}));
  EXPECT_EQ(values<double>(run_op("ReduceSumSquare", 18, {x, none}, noop)[0]), (std::vector<double>{9, 16}));
  EXPECT_EQ(values<double>(run_op("ReduceL2", 18, {x}, noop)[0]), (std::vector<double>{3, 4}));
  EXPECT_EQ(run_op("ReduceMax", 20, {Tensor::scalar<double>(2.5)})[0].item<double>(), 2.5) << "rank 0";
  EXPECT_THROW(run_op("ReduceSum", 13, {x, Tensor::vector<int64_t>({2})}), Error);
  EXPECT_THROW(run_op("ReduceSum", 13, {x, Tensor::vector<int64_t>({1, -1})}), Error)
      << "the same axis twice";
}

TEST(Reduce, KeepsNaNAndHandlesInfinities) {
  const Tensor x = Tensor::vector<double>({1, std::nan(""), 3});
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceLogSumExp"})
    EXPECT_TRUE(std::isnan(run_op(op, 11, {x})[0].item<double>())) << op;
  EXPECT_EQ(run_op("ReduceLogSumExp", 11, {Tensor::vector<double>({-kInf, 5})})[0].item<double>(), 5);
  EXPECT_EQ(run_op("ReduceLogSumExp", 11, {Tensor::vector<double>({-kInf, -kInf})})[0].item<double>(), -kInf);
  EXPECT_EQ(run_op("ReduceLogSumExp", 11, {Tensor::vector<double>({kInf, 5})})[0].item<double>(), kInf);
  EXPECT_NEAR(run_op("ReduceLogSumExp", 11, {Tensor::vector<double>({1e4, 1e4})})[0].item<double>(),
              1e4 + std::log(2), 1e-11);
}

TEST(Reduce, ComputesIntegersInTheirType) {
  const Tensor x = Tensor::vector<int32_t>({INT32_MAX, 3, -1});
  EXPECT_EQ(run_op("ReduceSum", 11, {x})[0].item<int32_t>(), INT32_MIN + 1) << "wraps";
  EXPECT_EQ(run_op("ReduceMean", 11, {x})[0].item<int32_t>(), 715827883) << "no overflow on the way";
  EXPECT_EQ(run_op("ReduceMean", 11, {Tensor::vector<int64_t>({-1, -2})})[0].item<int64_t>(), -1)
      << "truncated";
  EXPECT_EQ(run_op("ReduceL2", 11, {Tensor::vector<int64_t>({-3, 4})})[0].item<int64_t>(), 5);
  EXPECT_EQ(run_op("ReduceL2", 11, {Tensor::vector<int64_t>({3037000499})})[0].item<int64_t>(), 3037000499);
  EXPECT_EQ(run_op("ReduceLogSum", 13, {Tensor::vector<int32_t>({20, 30})})[0].item<int32_t>(), 3);
  EXPECT_EQ(run_op("ReduceMax", 12, {Tensor::zeros(DType::kInt8, {0})})[0].item<int8_t>(), -128);
  EXPECT_EQ(run_op("ReduceMin", 12, {Tensor::zeros(DType::kUInt8, {0})})[0].item<uint8_t>(), 255);
  EXPECT_EQ(run_op("ReduceMin", 20, {Tensor::vector(std::vector<bool>{true, false})})[0].item<bool>(), false);
  EXPECT_THROW(run_op("ReduceMean", 11, {Tensor::zeros(DType::kInt64, {0})}), Error);
}

TEST(ArgReduce, FindsFirstOrLast) {
  const Tensor x = Tensor::from<double>({2, 3}, std::vector<double>{5, 1, 5, 0, 7, 7});
  const AttributeList row{{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}};
  AttributeList last = row;
  last.emplace_back("select_last_index", int64_t{1});
  EXPECT_EQ(values<int64_t>(run_op("ArgMax", 13, {x}, row)[0]), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(values<int64_t>(run_op("ArgMax", 13, {x}, last)[0]), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(values<int64_t>(run_op("ArgMin", 13, {x})[0]), (std::vector<int64_t>{1, 0, 0})) << "axis 0";
  EXPECT_EQ(run_op("ArgMin", 13, {x})[0].shape(), (Shape{1, 3}));
  const double nan = std::nan("");
  const Tensor y = Tensor::vector<double>({1, nan, 9, nan});
  EXPECT_EQ(run_op("ArgMax", 13, {y})[0].item<int64_t>(), 1);
  EXPECT_EQ(run_op("ArgMin", 13, {y}, {{"select_last_index", int64_t{1}}})[0].item<int64_t>(), 3);
  EXPECT_THROW(run_op("ArgMax", 13, {Tensor::zeros(DType::kFloat64, {0, 2})}), Error);
  EXPECT_EQ(run_op("ArgMax", 13, {Tensor::zeros(DType::kFloat64, {0, 2})}, row)[0].numel(), 0);
  EXPECT_THROW(run_op("ArgMax", 13, {x}, {{"axis", int64_t{2}}}), Error);
}

TEST(Cumulate, RunsEitherWayWithOrWithoutTheElement) {
  const Tensor x = Tensor::from<double>({3, 2}, std::vector<double>{1, 4, 2, 5, 3, 6});
  const Tensor axis = Tensor::scalar<int64_t>(0);
  const AttributeList exclusive{{"exclusive", int64_t{1}}}, reverse{{"reverse", int64_t{1}}};
  const AttributeList both{{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}};
  using Doubles = std::vector<double>;
  EXPECT_EQ(values<double>(run_op("CumSum", 14, {x, axis})[0]), (Doubles{1, 4, 3, 9, 6, 15}));
  EXPECT_EQ(values<double>(run_op("CumSum", 14, {x, axis}, exclusive)[0]), (Doubles{0, 0, 1, 4, 3, 9}));
  EXPECT_EQ(values<double>(run_op("CumSum", 14, {x, axis}, reverse)[0]), (Doubles{6, 15, 5, 11, 3, 6}));
  EXPECT_EQ(values<double>(run_op("CumSum", 14, {x, axis}, both)[0]), (Doubles{5, 11, 3, 6, 0, 0}));
  EXPECT_EQ(values<double>(run_op("CumProd", 26, {x, Tensor::scalar<int32_t>(-1)})[0]),
            (Doubles{1, 4, 2, 10, 3, 18}));
  EXPECT_EQ(values<double>(run_op("CumProd", 26, {x, axis}, both)[0]), (Doubles{6, 30, 3, 6, 1, 1}));
  EXPECT_EQ(values<int32_t>(run_op("CumSum", 11, {Tensor::vector<int32_t>({INT32_MAX, 1}), axis})[0]),
            (std::vector<int32_t>{INT32_MAX, INT32_MIN}));
  EXPECT_THROW(run_op("CumSum", 14, {x, Tensor::scalar<int64_t>(2)}), Error);
  EXPECT_THROW(run_op("CumSum", 14, {x, Tensor::vector<int64_t>({0, 1})}), Error);
}

TEST(ReduceInfer, KnowsAsMuchAsTheAxesTell) {
  const Type x = Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), 3, 4});
  const AttributeList drop{{"keepdims", int64_t{0}}};
  EXPECT_EQ(infer_op("ReduceMean", 11, {x}, axes({-1})).str(), "float32[n, 3, 1]");
  EXPECT_EQ(infer_op("ReduceMean", 18, {x, Tensor::vector<int64_t>({1, 2})}, drop).str(), "float32[n]");
  EXPECT_EQ(infer_op("ReduceMean", 18, {x}).str(), "float32[1, 1, 1]");
  EXPECT_EQ(infer_op("ReduceMean", 18, {x}, {{"noop_with_empty_axes", int64_t{1}}}).str(),
            "float32[n, 3, 4]");
  const Type two = Type::tensor(DType::kInt64, Dims{2}), some = Type::tensor(DType::kInt64, Dims{Dim()});
  EXPECT_EQ(infer_op("ReduceMean", 18, {x, two}).str(), "float32[?, ?, ?]");
  EXPECT_EQ(infer_op("ReduceMean", 18, {x, two}, drop).str(), "float32[?]");
  EXPECT_EQ(infer_op("ReduceMean", 18, {x, some}, drop).str(), Type::tensor(DType::kFloat32).str())
      << "unknown rank";
  EXPECT_EQ(infer_op("ReduceSum", 13, {Type::tensor(DType::kFloat32)}, drop).str(), "float32[]");
  EXPECT_EQ(infer_op("ArgMax", 13, {x}, {{"axis", int64_t{1}}}).str(), "int64[n, 1, 4]");
  EXPECT_EQ(infer_op("CumSum", 14, {x, Tensor::scalar<int64_t>(0)}).str(), "float32[n, 3, 4]");
  EXPECT_THROW(infer_op("ReduceMean", 11, {x}, axes({3})), Error);
  EXPECT_THROW(infer_op("CumSum", 14, {x, Tensor::scalar<int64_t>(3)}), Error);
}

TEST(ReduceInfer, CarriesTheProductOfExtents) {
  const InferInput shape(Dims{Dim::symbol("n"), 3, 8});
  EXPECT_EQ(infer_op("ReduceProd", 13, {shape}, axes({0}, 0)).extents[0], (Dims{Dim::symbol("24*n")}));
  EXPECT_EQ(infer_op("ReduceProd", 13, {Tensor::vector<int64_t>({2, 3, 8})}).extents[0], (Dims{48}));
  EXPECT_EQ(infer_op("ReduceSum", 13, {Tensor::vector<int64_t>({2, 3, -8})}).extents[0], std::nullopt);
}

}  // namespace
}  // namespace assay::reduce_test
