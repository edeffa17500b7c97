#include "reference/stacked_lanes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/op_test_util.h"
#include "reference/reference_test_util.h"
#include "tensor/convert.h"

namespace assay::stacked_lanes_test {
namespace {

/// A value close to x.
Tensor moved(const Tensor& x, unsigned seed) {
  Tensor by = to_float64(random_floats(x.shape(), seed));
  auto* p = by.mutable_data<double>();
  for (int64_t i = 0; i < by.numel(); ++i) p[i] = x.data<double>()[i] * (1 + 0x1p-22 * p[i]);
  return by;
}

void expect_each_lanes_own(const char* op, int64_t opset, std::vector<Tensor> inputs,
                           AttributeList attributes = {}) {
  std::vector<bool> present;
  for (Tensor& t : inputs) present.push_back(t.defined()), t = to_float64(t);
  const OpTestNode n(op, opset, present, std::move(attributes), 1, "");
  const auto evaluated = [&](const Tensor& first) {
    std::vector<Tensor> own = inputs;
    own[0] = first;
    EvalContext c(n.node(), n.op(), n.version(), own);
    n.version().eval(c);
    return c.outputs()[0];
  };
  const std::vector<Tensor> lanes = {inputs[0], moved(inputs[0], 7), inputs[0], moved(inputs[0], 8)};
  const Tensor exact = evaluated(inputs[0]);
  const std::vector<Tensor> found = stacked_lanes(n.node(), {&n.op(), &n.version()}, inputs, lanes, exact);
  ASSERT_EQ(found.size(), 3U) << op;
  for (size_t k = 0; k < found.size(); ++k) {
    const Tensor own = evaluated(lanes[k + 1]);
    ASSERT_EQ(found[k].shape(), own.shape());
    double largest = 0, off = 0;
    for (int64_t i = 0; i < own.numel(); ++i) {
      largest = std::max(largest, std::abs(own.data<double>()[i] - exact.data<double>()[i]));
      off = std::max(off, std::abs(own.data<double>()[i] - found[k].data<double>()[i]));
    }
    EXPECT_EQ(largest > 0, k != 1) << op << " " << k;
    EXPECT_LE(off, 1e-5 * largest + 1e-14) << op << " " << k;
  }
}

TEST(StackedLanes, GiveWhatEachLaneGivesAlone) {
  expect_each_lanes_own("MatMul", 13, {random_floats({2, 5, 9}, 1), random_floats({9, 20}, 2)});
  expect_each_lanes_own("Gemm", 13,
                        {random_floats({5, 9}, 1), random_floats({20, 9}, 2), random_floats({5, 20}, 3)},
                        {{"transB", int64_t{1}}, {"alpha", 0.5F}});
  expect_each_lanes_own(
      "Conv", 11, {random_floats({2, 4, 9, 7}, 1), random_floats({6, 2, 3, 3}, 2), random_floats({6}, 3)},
      {{"group", int64_t{2}}, {"strides", std::vector<int64_t>{2, 1}}});
}

/// Includes distant values, infinities and NaN.
TEST(StackedLanes, FollowFunctionsOfElementsFromPlaceToPlace) {
  for (const char* op : {"Sigmoid", "Tanh", "Exp"}) {
    const OpTestNode n(op, 13, {true}, {}, 1, "");
    const auto evaluated = [&](const Tensor& x) {
      EvalContext c(n.node(), n.op(), n.version(), {x});
      n.version().eval(c);
      return c.outputs()[0];
    };
    Tensor x = to_float64(random_floats({3000}, 1));
    for (double& v : std::span(x.mutable_data<double>(), 3000)) v *= 40;
    Tensor lane = moved(x, 2);
    double* to = lane.mutable_data<double>();
    to[5] = HUGE_VAL, to[6] = -HUGE_VAL, to[1000] = std::nan(""), to[1001] += 3, to[2999] -= 0.01;
    x.mutable_data<double>()[7] = HUGE_VAL, to[7] = HUGE_VAL;
    const std::vector<Tensor> inputs = {x}, lanes = {x, lane, x};
    const Tensor y = evaluated(x), own = evaluated(lane);
    const std::vector<Tensor> found = stacked_lanes(n.node(), {&n.op(), &n.version()}, inputs, lanes, y);
    ASSERT_EQ(found.size(), 2U) << op;
    EXPECT_TRUE(found[1].shares_storage(y)) << op;
    for (size_t i = 0; i < 3000; ++i) {
      const double is = found[0].span<double>()[i], should = own.span<double>()[i],
                   beside = y.span<double>()[i];
      if (std::isfinite(should) && std::isfinite(beside))
        EXPECT_LE(std::abs(is - should), 1e-9 * std::abs(should - beside) + 0x1p-50 * std::abs(should))
            << op << " " << i;
      else
        EXPECT_TRUE(is == should || (std::isnan(is) && std::isnan(should))) << op << " " << i;
    }
  }
}

/// Without a reference to compare with: the caller evaluates lane by lane.
TEST(StackedLanes, AreRefusedWhereDifferencesDoNotTell) {
  const OpTestNode n("MatMul", 13, {true, true}, {}, 1, "");
  Tensor x = to_float64(random_floats({3, 4}, 1)), other = moved(x, 2);
  const std::vector<Tensor> inputs = {x, to_float64(random_floats({4, 2}, 3))};
  const Tensor y = to_float64(random_floats({3, 2}, 4));
  const auto found = [&](const std::vector<Tensor>& lanes) {
    return stacked_lanes(n.node(), {&n.op(), &n.version()}, inputs, lanes, y).size();
  };
  EXPECT_EQ(found({x, other, x}), 2U);
  EXPECT_EQ(found({x, other}), 0U) << "nothing to stack";
  other.mutable_data<double>()[3] = HUGE_VAL;
  EXPECT_EQ(found({x, other, x}), 0U) << "an infinite difference";
  EXPECT_EQ(found({x, to_float64(random_floats({2, 4}, 1)), x}), 0U) << "another shape";
}

}  // namespace
}  // namespace assay::stacked_lanes_test
