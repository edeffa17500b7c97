// Float32 evaluations in many orders never leave the worst case, and stay within kExplainedFactor statistical
// sizes.
#include "reference/error_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ops/op_test_util.h"
#include "reference/reference_test_util.h"

namespace assay::error_bound_test {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

struct Evaluated {
  std::vector<Tensor> y, worst, expected;
};

Evaluated evaluate(const char* op, int64_t opset, std::vector<Tensor> inputs, AttributeList attributes = {},
                   size_t outputs = 1, double u = kUnitRoundoff) {
  std::vector<bool> present;
  for (const Tensor& t : inputs) present.push_back(t.defined());
  const OpTestNode n(op, opset, present, std::move(attributes), outputs, "");
  EvalContext c(n.node(), n.op(), n.version(), widened(n.op(), std::move(inputs)));
  c.ideal = true;
  n.version().eval(c);
  Evaluated e;
  e.y = c.outputs();
  const std::vector<double> roundoffs(outputs, u);
  e.worst = error_bounds(c, e.y, roundoffs, BoundModel::kWorstCase);
  e.expected = error_bounds(c, e.y, roundoffs, BoundModel::kStatistical);
  return e;
}

/// The bounds of an operator's first output, including sums that overflow float32 on the way.
NodeError error_of(const char* op, std::vector<Tensor> inputs, AttributeList attributes = {}) {
  const OpTestNode n(op, 23, std::vector<bool>(inputs.size(), true), std::move(attributes), 1, "");
  EvalContext c(n.node(), n.op(), n.version(), widened(n.op(), std::move(inputs)));
  c.ideal = true;
  n.version().eval(c);
  const std::vector<Tensor> y = c.outputs();
  const double u = kUnitRoundoff;
  return node_errors(c, y, {&u, 1})[0];
}

TEST(ErrorBound, SaysWhatSumsBecomeThatLeaveFloat32OnTheWay) {
  // Rows: opposite terms; terms of one sign, whose sum is infinite in every order; small ones; mostly
  // negative ones whose sum has room.
  const Tensor a = Tensor::vector<float>({3e25F, -3e25F, 3e25F, 3e25F, 2, 3, 2e13F, -3e13F}).reshaped({4, 2});
  const NodeError product = error_of("MatMul", {a, Tensor::vector<float>({2e25F, 1e25F}).reshaped({2, 1})});
  const double* bits = product.overflow.data<double>();
  EXPECT_EQ(bits[0], kPlusInfinity | kMinusInfinity | kNotANumber);
  EXPECT_EQ(bits[1], kPlusInfinity);
  EXPECT_EQ(bits[2], 0);
  EXPECT_EQ(bits[3], kPlusInfinity) << "4e38, and 3e38 taken off it";
  EXPECT_LT(product.expected.data<double>()[0], HUGE_VAL);
  EXPECT_FALSE(error_of("MatMul", {Tensor::vector<float>({2, 3}).reshaped({1, 2}),
                                   Tensor::vector<float>({2, 1}).reshaped({2, 1})})
                   .overflow.defined());

  const Tensor rows = Tensor::vector<float>({1e20F, 1, 1e15F, 1}).reshaped({2, 2});
  const NodeError normal = error_of("RMSNormalization", {rows, Tensor::vector<float>({1, 1})});
  EXPECT_EQ(normal.overflow.data<double>()[1], kNotANumber);
  EXPECT_EQ(normal.overflow.data<double>()[2], 0);
  EXPECT_EQ(normal.collapsed.data<double>()[1], 0);
  const NodeError mean = error_of("ReduceMean", {Tensor::vector<float>({3e38F, 3e38F, 3e38F, -3e38F})});
  EXPECT_EQ(mean.overflow.data<double>()[0], kPlusInfinity);
  EXPECT_FALSE(error_of("ReduceMean", {Tensor::vector<float>({1e38F, 1e38F})}).overflow.defined());
}

/// Largest error relative to a bound, and how often it exceeds it.
struct Tally {
  double worst_ratio = 0;
  double expected_ratio = 0;
  void add(double got, double exact, double worst, double expected) {
    const double error = std::fabs(got - exact);
    if (error == 0) return;
    worst_ratio = std::max(worst_ratio, error / worst);
    expected_ratio = std::max(expected_ratio, error / expected);
  }
  /// Errors are explained up to kExplainedFactor sizes. If there are any, they reach 1/100 of that; else the
  /// size would be meaningless.
  void check(const std::string& what) const {
    EXPECT_LE(worst_ratio, 1) << what;
    EXPECT_LE(expected_ratio, kExplainedFactor) << what;
    EXPECT_TRUE(expected_ratio == 0 || expected_ratio >= kExplainedFactor / 100) << what << expected_ratio;
  }
};

/// Representable integers stay exact: a loop
/// over a float counter ends correctly.
TEST(ErrorBound, NumbersThatTheTypeHasAreNotRounded) {
  const Tensor whole = Tensor::vector(std::vector<int64_t>{0, 20, -3, 1 << 24, (1 << 24) + 1});
  const Evaluated cast = evaluate("Cast", 13, {whole}, {{"to", int64_t{1}}});
  const double* e = cast.expected[0].data<double>();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(e[i], 0) << i;
  EXPECT_GT(e[4], 0) << "2^24 + 1 needs one bit more";
  const Tensor a = Tensor::vector(std::vector<float>{1, 0.1F}),
               b = Tensor::vector(std::vector<float>{0.5F, 0.3F});
  const Evaluated sum = evaluate("Add", 14, {a, b});
  EXPECT_EQ(sum.expected[0].data<double>()[0], 0);
  EXPECT_GT(sum.expected[0].data<double>()[1], 0);
  EXPECT_GT(sum.worst[0].data<double>()[0], 0);
  EXPECT_GT(evaluate("Add", 14, {a, b}, {}, 1, 0x1p-53).expected[0].data<double>()[0], 0)
      << "float64 is what y is held in";
}

/// One way to add up float32 products.
using Sum = std::function<float(const std::vector<float>& a, const std::vector<float>& b)>;

float in_order(const std::vector<float>& a, const std::vector<float>& b, const std::vector<size_t>& order) {
  float sum = 0;
  for (const size_t i : order) sum += a[i] * b[i];
  return sum;
}

float pairwise(const float* a, const float* b, size_t n) {
  if (n == 1) return a[0] * b[0];
  return pairwise(a, b, n / 2) + pairwise(a + n / 2, b + n / 2, n - n / 2);
}

std::vector<std::pair<std::string, Sum>> all_sums() {
  const auto indices = [](size_t n) {
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  };
  return {
      {"in order", [=](const auto& a, const auto& b) { return in_order(a, b, indices(a.size())); }},
      {"backwards",
       [=](const auto& a, const auto& b) {
         std::vector<size_t> order = indices(a.size());
         std::reverse(order.begin(), order.end());
         return in_order(a, b, order);
       }},
      {"shuffled",
       [=](const auto& a, const auto& b) {
         std::vector<size_t> order = indices(a.size());
         std::mt19937 generator(1);
         std::shuffle(order.begin(), order.end(), generator);
         return in_order(a, b, order);
       }},
      {"fused",
       [](const auto& a, const auto& b) {
         float sum = 0;
         for (size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
         return sum;
       }},
      {"in pairs", [](const auto& a, const auto& b) { return pairwise(a.data(), b.data(), a.size()); }},
      {"in 8 lanes",
       [](const auto& a, const auto& b) {
         float lanes[8] = {}, sum = 0;
         for (size_t i = 0; i < a.size(); ++i) lanes[i % 8] = std::fma(a[i], b[i], lanes[i % 8]);
         for (const float lane : lanes) sum += lane;
         return sum;
       }},
  };
}

std::vector<float> row(const Tensor& t, int64_t r, int64_t n) {
  return {t.data<float>() + r * n, t.data<float>() + (r + 1) * n};
}

class Products : public testing::TestWithParam<std::tuple<int64_t, float>> {};

TEST_P(Products, OfEveryOrderStayWithin) {
  const auto [k, low] = GetParam();
  constexpr int64_t kRows = 20, kColumns = 20;
  const Tensor a = random_floats({kRows, k}, 1, low, 1), b = random_floats({kColumns, k}, 2, low, 1);
  const Evaluated e = evaluate("Gemm", 13, {a, b}, {{"transB", int64_t{1}}});
  Tally all;
  for (const auto& [name, sum] : all_sums()) {
    Tally tally;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < kColumns; ++c) {
        const auto i = r * kColumns + c;
        const auto got = static_cast<double>(sum(row(a, r, k), row(b, c, k)));
        for (Tally* t : {&tally, &all})
          t->add(got, e.y[0].data<double>()[i], e.worst[0].data<double>()[i],
                 e.expected[0].data<double>()[i]);
      }
    EXPECT_LE(tally.worst_ratio, 1) << name;
    EXPECT_LE(tally.expected_ratio, kExplainedFactor) << name;
  }
  all.check("all orders");
}

INSTANTIATE_TEST_SUITE_P(Lengths, Products,
                         testing::Combine(testing::Values(1, 2, 16, 128, 1024, 4096),
                                          testing::Values(-1.0F, 0.0F)));

TEST(ErrorBounds, AreNoneForExactOperators) {
  const Evaluated e = evaluate("Relu", 14, {random_floats({10}, 1)});
  EXPECT_FALSE(e.worst[0].defined());
  EXPECT_FALSE(e.expected[0].defined());
}

TEST(ErrorBounds, AreNoneForIntegers) {
  const Evaluated e = evaluate("Add", 14, {Tensor::vector<int32_t>({1, 2}), Tensor::vector<int32_t>({3, 4})});
  EXPECT_FALSE(e.worst[0].defined());
}

TEST(ErrorBounds, OfElementwiseOperatorsAreOneRounding) {
  const Tensor a = random_floats({1000}, 1), b = random_floats({1000}, 2, 0.5F, 1);
  const std::pair<const char*, std::function<float(float, float)>> cases[] = {
      {"Add", [](float x, float y) { return x + y; }},
      {"Sub", [](float x, float y) { return x - y; }},
      {"Mul", [](float x, float y) { return x * y; }},
      {"Div", [](float x, float y) { return x / y; }},
  };
  for (const auto& [op, f] : cases) {
    const Evaluated e = evaluate(op, 14, {a, b});
    Tally tally;
    for (int64_t i = 0; i < 1000; ++i)
      tally.add(static_cast<double>(f(a.data<float>()[i], b.data<float>()[i])), e.y[0].data<double>()[i],
                e.worst[0].data<double>()[i], e.expected[0].data<double>()[i]);
    tally.check(op);
    EXPECT_EQ(tally.worst_ratio, tally.expected_ratio) << op;
  }
}

TEST(ErrorBounds, OfUnaryFunctionsCoverTheCLibrary) {
  const std::pair<const char*, std::function<float(float)>> cases[] = {
      {"Exp", [](float x) { return std::exp(x); }},
      {"Tanh", [](float x) { return std::tanh(x); }},
      {"Sqrt", [](float x) { return std::sqrt(x); }},
      {"Log", [](float x) { return std::log(x); }},
  };
  const Tensor x = random_floats({2000}, 3, 0.01F, 4);
  for (const auto& [op, f] : cases) {
    const Evaluated e = evaluate(op, 13, {x});
    Tally tally;
    for (int64_t i = 0; i < 2000; ++i)
      tally.add(static_cast<double>(f(x.data<float>()[i])), e.y[0].data<double>()[i],
                e.worst[0].data<double>()[i], e.expected[0].data<double>()[i]);
    tally.check(op);
  }
}

/// Five expected errors still exceed the largest one of a function, so nodes on their own inputs are not
/// judged more strictly.
TEST(ErrorBounds, OfFunctionsExpectAQuarterOfTheLargest) {
  const Tensor x = random_floats({100}, 3, 0.01F, 4);
  for (const char* op : {"Exp", "Tanh", "Sigmoid", "Softplus", "Reciprocal"}) {
    const Evaluated e = evaluate(op, 13, {x});
    for (int64_t i = 0; i < 100; ++i) {
      const double worst = e.worst[0].data<double>()[i], expected = e.expected[0].data<double>()[i],
                   once = kUnitRoundoff * std::abs(e.y[0].data<double>()[i]);
      EXPECT_DOUBLE_EQ(expected, std::max(worst / 4, std::min(once, worst))) << op;
    }
  }
}

/// Float32 evaluations of a row.
using RowFunction = std::function<std::vector<float>(std::vector<float>)>;

void expect_rows_within(const char* op, int64_t opset, const Tensor& x, std::vector<Tensor> more,
                        AttributeList attributes, const std::vector<RowFunction>& functions) {
  const int64_t n = x.dim(1);
  std::vector<Tensor> inputs{x};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const Evaluated e = evaluate(op, opset, std::move(inputs), std::move(attributes));
  const int64_t each = e.y[0].numel() / x.dim(0);
  Tally tally;
  for (const RowFunction& f : functions)
    for (int64_t r = 0; r < x.dim(0); ++r) {
      const std::vector<float> got = f(row(x, r, n));
      for (int64_t i = 0; i < each; ++i)
        tally.add(static_cast<double>(got[static_cast<size_t>(i)]), e.y[0].data<double>()[r * each + i],
                  e.worst[0].data<double>()[r * each + i], e.expected[0].data<double>()[r * each + i]);
    }
  tally.check(fmt::format("{} of {}", op, n));
}

float sum_of(const std::vector<float>& x) { return std::accumulate(x.begin(), x.end(), 0.0F); }
float sum_in_lanes(const std::vector<float>& x) {
  float lanes[16] = {}, sum = 0;
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 16] += x[i];
  for (const float lane : lanes) sum += lane;
  return sum;
}

template <typename SumFunction>
std::vector<float> softmax(std::vector<float> x, SumFunction sum, bool log) {
  const float largest = *std::max_element(x.begin(), x.end());
  std::vector<float> powers(x.size());
  for (size_t i = 0; i < x.size(); ++i) powers[i] = std::exp(x[i] - largest);
  const float total = sum(powers);
  for (size_t i = 0; i < x.size(); ++i) x[i] = log ? x[i] - largest - std::log(total) : powers[i] / total;
  return x;
}

class Rows : public testing::TestWithParam<int64_t> {};

TEST_P(Rows, OfSoftmaxStayWithin) {
  const int64_t n = GetParam();
  for (const float scale : {1.0F, 20.0F})
    for (const bool log : {false, true})
      expect_rows_within(log ? "LogSoftmax" : "Softmax", 13, random_floats({8, n}, 5, -scale, scale), {}, {},
                         {[=](auto x) { return softmax(std::move(x), sum_of, log); },
                          [=](auto x) { return softmax(std::move(x), sum_in_lanes, log); }});
}

TEST_P(Rows, OfReductionsStayWithin) {
  const int64_t n = GetParam();
  const Tensor x = random_floats({8, n}, 6, -1, 1), positive = random_floats({8, n}, 7, 0.1F, 1);
  const AttributeList axes = {{"axes", std::vector<int64_t>{1}}};
  const auto f = static_cast<float>(n);
  const auto squares = [](std::vector<float> v) {
    for (float& e : v) e *= e;
    return v;
  };
  for (const Tensor& t : {x, positive}) {
    expect_rows_within("ReduceMean", 13, t, {}, axes,
                       {[=](auto v) { return std::vector<float>{sum_of(v) / f}; },
                        [=](auto v) { return std::vector<float>{sum_in_lanes(v) / f}; }});
    expect_rows_within("ReduceSumSquare", 13, t, {}, axes,
                       {[=](auto v) { return std::vector<float>{sum_of(squares(v))}; }});
    expect_rows_within("ReduceL2", 13, t, {}, axes,
                       {[=](auto v) { return std::vector<float>{std::sqrt(sum_of(squares(v)))}; }});
    expect_rows_within("ReduceLogSumExp", 13, t, {}, axes, {[](auto v) {
                         const float most = *std::max_element(v.begin(), v.end());
                         for (float& e : v) e = std::exp(e - most);
                         return std::vector<float>{most + std::log(sum_of(v))};
                       }});
  }
}

TEST_P(Rows, OfLayerNormalizationStayWithin) {
  const int64_t n = GetParam();
  if (n < 4) return;
  const Tensor scale = random_floats({n}, 8);
  const auto normalized = [&](const std::vector<float>& x, auto sum) {
    const auto f = static_cast<float>(n);
    const float mean = sum(x) / f;
    std::vector<float> squares, y;
    for (const float v : x) squares.push_back((v - mean) * (v - mean));
    const float inverse = 1 / std::sqrt(sum(squares) / f + 1e-5F);
    for (size_t i = 0; i < x.size(); ++i) y.push_back((x[i] - mean) * inverse * scale.data<float>()[i]);
    return y;
  };
  for (const float shift : {0.0F, 3.0F})
    expect_rows_within("LayerNormalization", 17, random_floats({8, n}, 9, shift - 1, shift + 1), {scale}, {},
                       {[&](const auto& x) { return normalized(x, sum_of); },
                        [&](const auto& x) { return normalized(x, sum_in_lanes); }});
}

INSTANTIATE_TEST_SUITE_P(Lengths, Rows, testing::Values(1, 4, 64, 1000, 4096));

}  // namespace
}  // namespace assay::error_bound_test
