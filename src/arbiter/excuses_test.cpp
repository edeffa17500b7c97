// Excuses: roundings that do not cancel, other algorithms, and results that ONNX leaves open.
#include "arbiter/excuses.h"

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "arbiter/arbiter_test_util.h"
#include "tensor/convert.h"

namespace assay::excuses_test {
namespace {

/// Also where only some of them are equal, as behind an activation that saturates.
TEST(Excuses, SomeEqualAddendsRoundWithABias) {
  TestModel m;
  const int64_t n = 475, equal = 330;
  const auto model = m.with_outputs({m.node("GlobalAveragePool", "y", {m.input("x", {1, 1, n, 1})})});
  const Tensor others = random_floats({1, 1, n, 1}, 3, 0.15F, 1.2F);
  const auto with = [&](const std::function<float(int64_t)>& value) {
    Tensor x = others;
    for (int64_t i = 0; i < equal; ++i) x.mutable_data<float>()[i * n / equal] = value(i);
    return x;
  };
  const auto plain = [&](const Tensor& x) {
    float sum = 0;
    for (const float v : x.span<float>()) sum += v;
    return sum / n;
  };
  const auto exact = [&](const Tensor& x) {
    return to_float64(observe(model, {x})[0].second[0]).data<double>()[0];
  };
  const auto verdict = [&](const Tensor& x, double y) {
    return judge(model, {x}, {{"y", Tensor::from<float>({1, 1, 1, 1}, {static_cast<float>(y)})}})
        .outputs[0]
        .verdict;
  };
  constexpr double kU = 0x1p-24;
  // The worst of some numbers: what is cut off depends on their last bits.
  Tensor worst = others;
  const auto error = [&](const Tensor& x) { return std::abs(plain(x) / exact(x) - 1) / kU; };
  for (int k = 0; k < 1000; ++k)
    if (const Tensor x = with([&](int64_t) { return 0.149F + 1e-6F * static_cast<float>(k); });
        error(x) > error(worst))
      worst = x;
  ASSERT_GT(error(worst), 70) << "more than independent roundings explain";
  EXPECT_EQ(verdict(worst, plain(worst)), Verdict::kRounding);
  EXPECT_EQ(verdict(worst, exact(worst) * (1 + 400 * kU)), Verdict::kWrong);
  const Tensor various = with([](int64_t i) { return 0.15F + 0.001F * static_cast<float>(i); });
  EXPECT_EQ(verdict(various, exact(various) * (1 + 200 * kU)), Verdict::kWrong)
      << "where all differ it does not";
}

/// Beside a large number a fast convolution may err by units of that, also where its own window holds only
/// small ones.
TEST(Excuses, FastConvolutionsRoundByTheLargestNumberNearby) {
  for (const int64_t channels : {4, 64}) {
    TestModel m;
    const auto model = m.with_outputs({m.node(
        "Conv", "y",
        {m.input("x", {1, channels, 8, 8}), m.constant("w", random_floats({2, channels, 3, 3}, 1))})});
    Tensor x = random_floats({1, channels, 8, 8}, 2, -1e-3F, 1e-3F);
    x.mutable_data<float>()[3] =
        100;  // at column 3 of row 0: the window at (0, 4) does not hold it, its tile may
    const Tensor exact = to_float64(observe(model, {x})[0].second[0]);
    const auto verdict = [&](int64_t at, double error) {
      Tensor y = convert(exact, DType::kFloat32);
      y.mutable_data<float>()[at] = static_cast<float>(exact.data<double>()[at] + error);
      return judge(model, {x}, {{"y", y}}).outputs[0];
    };
    EXPECT_EQ(verdict(4, 1e-5).verdict, Verdict::kRounding);
    EXPECT_NE(verdict(4, 1e-5).note.find("Winograd"), std::string::npos);
    EXPECT_EQ(verdict(4, 1e-3).verdict, Verdict::kWrong);
    // Two columns away from the large number: only tiles of 4x4 hold both.
    EXPECT_EQ(verdict(5, 1e-5).verdict, channels == 4 ? Verdict::kWrong : Verdict::kRounding);
    EXPECT_EQ(verdict(24, 1e-5).verdict, Verdict::kWrong) << "too far away";
  }
}

/// With dilations the tiles are those of every so many columns.
TEST(Excuses, FastConvolutionsWithDilationsRoundByNumbersThatFarAway) {
  TestModel m;
  const auto model = m.with_outputs(
      {m.node("Conv", "y", {m.input("x", {1, 64, 12, 12}), m.constant("w", random_floats({2, 64, 3, 3}, 1))},
              {{"dilations", std::vector<int64_t>{1, 2}}})});
  Tensor x = random_floats({1, 64, 12, 12}, 2, -1e-3F, 1e-3F);
  x.mutable_data<float>()[5] = 100;  // the windows of columns 1, 3 and 5 hold it, those of 2 and 7 do not
  const Tensor exact = to_float64(observe(model, {x})[0].second[0]);
  const auto verdict = [&](int64_t at) {
    Tensor y = convert(exact, DType::kFloat32);
    y.mutable_data<float>()[at] = static_cast<float>(exact.data<double>()[at] + 1e-5);
    return judge(model, {x}, {{"y", y}}).outputs[0].verdict;
  };
  EXPECT_EQ(verdict(7), Verdict::kRounding);
  EXPECT_EQ(verdict(2), Verdict::kWrong) << "in another image of every second column";
}

/// A large addend at the beginning, and its opposite at the end: every sum in between is rounded by units of
/// it.
TEST(Excuses, FewLargeAddendsMakeLargePartialSums) {
  TestModel m;
  const int64_t n = 1000;
  const auto model = m.with_outputs({m.node("MatMul", "y", {m.input("x", {1, n}), m.input("w", {n, 1})})});
  Tensor x = random_floats({1, n}, 1, -0.01F, 0.01F), w = Tensor::allocate(DType::kFloat32, {n, 1});
  for (float& v : w.mutable_span<float>()) v = 1;
  x.mutable_data<float>()[0] = 30;
  x.mutable_data<float>()[n - 1] = -30;
  float plain = 0;
  for (const float v : x.span<float>()) plain += v;
  const double exact = to_float64(observe(model, {x, w})[0].second[0]).data<double>()[0];
  const auto verdict = [&](double y) {
    return judge(model, {x, w}, {{"y", Tensor::from<float>({1, 1}, {static_cast<float>(y)})}})
        .outputs[0]
        .verdict;
  };
  ASSERT_GT(std::abs(plain - exact), 5 * 0x1p-24 * 65) << "more than what its terms would give in any place";
  EXPECT_EQ(verdict(plain), Verdict::kRounding);
  EXPECT_EQ(verdict(exact + 0.01), Verdict::kWrong);
}

/// A weight is as often the output of a Constant node as an initializer.
TEST(Excuses, ConstantNodesAreKnown) {
  TestModel m;
  Value* w = m.node("Constant", "w", {}, {{"value", UnalignedTensor(random_floats({5, 3}, 1))}});
  Value* b = m.node("MatMul", "b", {m.node("Exp", "a", {m.input("x", {4, 5})}), w});
  const auto model = m.with_outputs({b, m.node("Neg", "c", {b})});
  const std::vector<Tensor> feed{random_floats({4, 5}, 2)};
  StoredTensorList results = results_of(*model, feed);
  std::erase_if(results, [](const NamedStoredTensor& t) { return t.name == "w"; });  // nobody marks those
  for (const ArbiterVerdict& o : judge(model, feed, results).outputs) {
    EXPECT_EQ(o.basis, Basis::kNode) << o.output;
    EXPECT_EQ(o.inputs.size(), 1U) << o.output;
  }
}

TEST(Excuses, EqualAddendsRoundWithABias) {
  TestModel m;
  const auto model = m.with_outputs({m.node("GlobalAveragePool", "y", {m.input("x", {1, 1, 200, 200})})});
  for (const float value : {0.1F, 0.3F, 7.7F}) {
    const std::vector<Tensor> feed{Tensor::from<float>({1, 1, 200, 200}, std::vector<float>(40000, value))};
    float sum = 0;
    for (int i = 0; i < 40000; ++i) sum += value;
    const Arbitration loop = judge(model, feed, {{"y", Tensor::from<float>({1, 1, 1, 1}, {sum / 40000})}});
    EXPECT_TRUE(loop.all_right()) << value << ": " << loop.outputs[0].worst_ratio;
    const Arbitration wrong = judge(model, feed, {{"y", Tensor::from<float>({1, 1, 1, 1}, {value * 1.01F})}});
    EXPECT_FALSE(wrong.all_right());
  }
}

TEST(Excuses, RandomNumbersAreLeftOpen) {
  TestModel m;
  Value* drawn = m.node("RandomNormalLike", "drawn", {m.input("x", {8})});
  const auto model = m.with_outputs({drawn, m.node("Neg", "neg", {drawn})});
  const Arbitration both = judge(model, {random_floats({8}, 1)},
                                 {{"drawn", random_floats({8}, 2)}, {"neg", random_floats({8}, 3)}});
  EXPECT_EQ(both.outputs[0].verdict, Verdict::kOpen);
  EXPECT_EQ(both.outputs[1].verdict, Verdict::kWrong)
      << "what follows from the numbers that were drawn is not open";
  const Arbitration end = judge(model, {random_floats({8}, 1)}, {{"neg", random_floats({8}, 3)}});
  EXPECT_EQ(end.outputs[0].verdict, Verdict::kOpen);
}

TEST(Excuses, WhatNodesMakeOfNaNIsLeftOpen) {
  TestModel m;
  Value* root = m.node("Sqrt", "root", {m.input("x", {2})});
  const auto model = m.with_outputs({root, m.node("Relu", "y", {root})});
  const std::vector<Tensor> fed{Tensor::from<float>({2}, {-1, 4})}, good{Tensor::from<float>({2}, {1, 4})};
  const Tensor other = Tensor::from<float>({2}, {7, 2});
  const Arbitration open = judge(model, fed, {{"y", other}});
  EXPECT_EQ(open.outputs[0].verdict, Verdict::kOpen);
  EXPECT_NE(open.outputs[0].note.find("become NaN at node"), std::string::npos) << open.outputs[0].note;
  EXPECT_EQ(judge(model, good, {{"y", other}}).outputs[0].verdict, Verdict::kWrong) << "without NaN";
  const Arbitration maker = judge(model, fed, {{"root", other}});
  EXPECT_EQ(maker.outputs[0].verdict, Verdict::kWrong) << "a node on its own inputs";
}

TEST(Excuses, AJumpIsJudgedElementByElement) {
  TestModel m;
  Value* h = m.node("Mul", "h", {m.input("x", {1000}), m.constant("k", Tensor::scalar(1 / 3.0F))});
  const auto model =
      m.with_outputs({m.node("Cast", "y", {h}, {{"to", int64_t{static_cast<int64_t>(DType::kInt32)}}})});
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i)
    x.push_back(static_cast<float>(3 * (i % 200)));  // a third of it is next to a whole number
  const std::vector<Tensor> feed{Tensor::vector<float>(x)};
  StoredTensorList results = results_of(*model, feed);
  std::erase_if(results, [](const NamedStoredTensor& t) { return t.name != "y"; });
  const auto with = [&](int32_t off, int count) {
    Tensor t = results[0].tensor.load();
    for (int i = 0; i < count; ++i) t.mutable_data<int32_t>()[7 * i + 1] += off;
    return judge(model, feed, {{"y", t}}).outputs[0].verdict;
  };
  EXPECT_NE(with(-1, 10), Verdict::kWrong);
  EXPECT_EQ(with(1'000'000'000, 10), Verdict::kWrong);
  EXPECT_EQ(with(1'000'000'000, 1), Verdict::kWrong);
}

TEST(Excuses, AJumpThatTheExactNetworkMakesIsNoError) {
  // What is handed out is 6 after rounding; whoever computes wider has a number a little below.
  TestModel m;
  Value* below = m.node("Sub", "below", {m.input("x", {3}), m.constant("e", Tensor::scalar(1e-8F))});
  const auto model = m.with_outputs({m.node("Cast", "y", {below}, {{"to", int64_t{7}}})});
  const std::vector<Tensor> feed{Tensor::vector<float>({6, -6, 2.5F})};
  const StoredTensorList results = results_of(*model, feed);
  const auto verdict = [&](const std::vector<int64_t>& y) {
    StoredTensorList changed = results;
    changed.back().tensor = Tensor::vector<int64_t>(y);
    return judge(model, feed, changed).outputs.back().verdict;
  };
  ASSERT_EQ(verdict({6, -6, 2}), Verdict::kAgrees) << "as it follows from the stored numbers";
  EXPECT_EQ(verdict({5, -6, 2}), Verdict::kAgrees) << "as it follows from numbers that were not rounded";
  EXPECT_EQ(verdict({6, -5, 2}), Verdict::kWrong);
  EXPECT_EQ(verdict({5, -6, 3}), Verdict::kWrong);
}

TEST(Excuses, AQuotientMayBeAProductWithTheReciprocal) {
  TestModel m;
  const auto model = m.with_outputs(
      {m.node("Div", "y", {m.input("x", {500}), m.constant("c", Tensor::scalar(2.8284271F))})});
  const std::vector<Tensor> feed{random_floats({500}, 3)};
  const float reciprocal = 1 / 2.8284271F;
  const auto verdict = [&](float factor) {
    std::vector<float> y;
    for (const float x : feed[0].span<float>()) y.push_back(x * reciprocal * factor);
    return judge(model, feed, {{"y", Tensor::vector<float>(y)}}).outputs[0].verdict;
  };
  EXPECT_EQ(verdict(1), Verdict::kRounding);
  EXPECT_EQ(verdict(1 + 0x1p-21F), Verdict::kWrong);
}

/// (x - mean) / sqrt(variance + 1e-6) over rows of 50 numbers near 0.3, all values known.
struct Normalisation {
  Normalisation() {
    TestModel m;
    Value* x = m.input("x", {3, 50});
    Value* rows = m.constant("rows", Tensor::vector<int64_t>({1}));
    Value* d = m.node("Sub", "d", {x, m.node("ReduceMean", "m", {x, rows})});
    Value* v = m.node("ReduceMean", "v", {m.node("Mul", "s", {d, d}), rows});
    Value* r = m.node("Sqrt", "r", {m.node("Add", "e", {v, m.constant("c", Tensor::scalar(1e-6F))})});
    model = m.with_outputs({m.node("Div", "y", {d, r})});
    std::vector<float> data;
    for (int i = 0; i < 150; ++i) data.push_back(0.3F + 1e-5F * static_cast<float>(i % 7));
    feed = {Tensor::vector<float>(data).reshaped({3, 50})};
    results = results_of(*model, feed);
  }
  Verdict with(double shift, int count) {
    Tensor y = to_float64(results.back().tensor.load());
    for (int i = 0; i < count; ++i) y.mutable_data<double>()[i] += shift;
    StoredTensorList changed(results.begin(), results.end() - 1);
    changed.push_back({"y", convert(y, DType::kFloat32)});
    return judge(model, feed, changed).outputs.back().verdict;
  }
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  StoredTensorList results;
};

TEST(Excuses, ANormalisationMayBeComputedAtOnce) {
  Normalisation n;
  EXPECT_NE(n.with(0, 0), Verdict::kWrong);
  // A unit in the last place of the mean, 3e-8, over the deviation of about 1e-3.
  EXPECT_EQ(n.with(2.98e-5, 150), Verdict::kRounding);
  EXPECT_EQ(n.with(2.98e-3, 150), Verdict::kWrong);
  EXPECT_EQ(n.with(2.98e-3, 1), Verdict::kWrong);
}

TEST(Excuses, SmallAddendsThatFloat64LosesAreNoExactSums) {
  TestModel m;
  Value* k = m.constant("k", Tensor::scalar(1000.0F));
  const auto model = m.with_outputs({m.node("Sub", "y", {m.node("Add", "s", {m.input("x", {100}), k}), k})});
  const std::vector<Tensor> feed{Tensor::vector<float>(std::vector<float>(100, 1e-30F))};
  EXPECT_NE(judge(model, feed, {{"y", feed[0]}}).outputs[0].verdict, Verdict::kWrong);
  EXPECT_NE(judge(model, feed, {{"y", Tensor::vector<float>(std::vector<float>(100, 0))}}).outputs[0].verdict,
            Verdict::kWrong);
  EXPECT_EQ(
      judge(model, feed, {{"y", Tensor::vector<float>(std::vector<float>(100, 1e-2F))}}).outputs[0].verdict,
      Verdict::kWrong);
}

TEST(Excuses, LevelsMayBeAStepOffWhereOnlyOutputsAreKnown) {
  TestModel m;
  Value *scale = m.constant("scale", Tensor::scalar(0.01F)),
        *zero = m.constant("zero", Tensor::scalar<uint8_t>(128));
  const auto levels = [&](const std::string& name, Value* v) {
    return m.node("QuantizeLinear", name, {v, scale, zero});
  };
  const auto numbers = [&](const std::string& name, Value* v) {
    return m.node("DequantizeLinear", name, {v, scale, zero});
  };
  Value* h = numbers("b", levels("a", m.input("x", {200})));
  const auto model = m.with_outputs({numbers("y", levels("q", m.node("Sigmoid", "h", {h})))});
  const std::vector<Tensor> feed{random_floats({200}, 3)};
  const StoredTensorList all = results_of(*model, feed);
  const auto verdict = [&](double steps, bool marked) {
    StoredTensorList results = marked ? all : StoredTensorList();
    if (marked) results.pop_back();
    Tensor y = to_float64(all.back().tensor.load());
    for (int i = 0; i < 20; ++i) y.mutable_data<double>()[7 * i] += 0.01 * steps;
    results.push_back({"y", convert(y, DType::kFloat32)});
    return judge(model, feed, results).outputs.back().verdict;
  };
  EXPECT_EQ(verdict(0, false), Verdict::kAgrees);
  EXPECT_EQ(verdict(1, false), Verdict::kCannotTell) << "a step is more than a hundredth of the result";
  EXPECT_EQ(verdict(10, false), Verdict::kWrong);
  EXPECT_EQ(verdict(100, false), Verdict::kWrong);
  EXPECT_EQ(verdict(1, true), Verdict::kWrong);
}

/// OpenVINO's FakeQuantize rounds (x - low) / step.
TEST(Excuses, AQuotientMeasuredFromTheEndOfTheRange) {
  TestModel m;
  Value* x = m.input("x", {4, 2});
  Value* y = m.node("QuantizeLinear", "y",
                    {x, m.constant("scale", Tensor::vector<float>({0.04F, 4})),
                     m.constant("zero", Tensor::vector<uint8_t>({120, 120}))});
  const auto model = m.with_outputs({y});
  const auto verdict = [&](float in_steps, int64_t at, uint8_t level) {
    Tensor in = Tensor::from<float>({4, 2}, std::vector<float>(8, 0.3F));
    in.mutable_data<float>()[at] = in_steps * (at % 2 == 0 ? 0.04F : 4.0F);
    Tensor out = convert(to_float64(results_of(*model, {in})[0].tensor.load()), DType::kUInt8);
    out.mutable_data<uint8_t>()[at] = level;
    return judge(model, {in}, {{"y", out}}).outputs[0].verdict;
  };
  for (const int64_t at : {0, 3}) {  // a scale for each column
    EXPECT_NE(verdict(7.50002F, at, 128), Verdict::kWrong);
    EXPECT_NE(verdict(7.50002F, at, 127), Verdict::kWrong) << "2e-5 of a step above the middle";
    EXPECT_EQ(verdict(7.501F, at, 127), Verdict::kWrong) << "farther than 8 roundings of 256 steps";
    EXPECT_EQ(verdict(7.50002F, at, 126), Verdict::kWrong);
  }
}

/// What was handed out of a value need not be what the next node had.
TEST(Excuses, AResultOfOtherInputsThanThoseHandedOut) {
  TestModel m;
  Value* h = m.node("Relu", "h", {m.input("x", {1, 8})});
  const auto model = m.with_outputs({h, m.node("Exp", "y", {h})});
  const Tensor x = random_floats({1, 8}, 1, 0.5F, 1.0F);
  const StoredTensorList right = results_of(*model, {x});
  const auto verdict = [&](float tap, double error) {
    Tensor shown = convert(to_float64(right[0].tensor.load()), DType::kFloat32);
    Tensor y = convert(to_float64(right[1].tensor.load()), DType::kFloat32);
    shown.mutable_data<float>()[3] += tap;
    y.mutable_data<float>()[3] *= static_cast<float>(1 + error);
    return judge(model, {x}, {{"h", shown}, {"y", y}}).outputs[1].verdict;
  };
  EXPECT_NE(verdict(0.01F, 2 * 0x1p-23), Verdict::kWrong) << "next to the exact network's";
  EXPECT_EQ(verdict(0.01F, 64 * 0x1p-23), Verdict::kWrong) << "right by neither";
}

}  // namespace
}  // namespace assay::excuses_test
