// Numbers of narrow types, which the backend may have had unrounded.
#include <algorithm>
#include <array>
#include <cmath>

#include "arbiter/arbiter_test_util.h"
#include "ops/eval_util.h"
#include "ops/op_test_util.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::narrow_types_test {
namespace {

TEST(NarrowTypes, JumpsOfNarrowNumbersGoWhereTheyMay) {
  TestModel m;
  Value* h = m.node("Mul", "h",
                    {m.input("x", {200}, DType::kFloat16),
                     m.constant("k", convert(Tensor::scalar(1 / 3.0F), DType::kFloat16))});
  const auto model = m.with_outputs({h, m.node("Floor", "y", {h})});
  std::vector<float> x;
  for (int i = 0; i < 200; ++i) x.push_back(static_cast<float>(i));
  const std::vector<Tensor> feed{convert(Tensor::vector<float>(x), DType::kFloat16)};
  const StoredTensorList results = results_of(*model, feed);
  const Tensor inputs = to_float64(results[0].tensor.load()), right = to_float64(results[1].tensor.load());
  const auto with = [&](int64_t at, double value) {
    Tensor t = to_float64(results[1].tensor.load());
    t.mutable_data<double>()[at] = value;
    const Arbitration a = judge(model, feed, {results[0], {"y", convert(t, DType::kFloat16)}});
    return a.outputs.back().verdict;
  };
  int next_to_a_step = 0;
  for (int64_t i = 1; i < 200; ++i) {
    const double v = inputs.data<double>()[i], y = right.data<double>()[i];
    const bool may_be_lower = v == y;
    next_to_a_step += may_be_lower;
    EXPECT_EQ(with(i, y - 1) == Verdict::kWrong, !may_be_lower) << v;
    EXPECT_EQ(with(i, y + 1), Verdict::kWrong) << v;
    EXPECT_EQ(with(i, y + 0.5), Verdict::kWrong) << v;
  }
  EXPECT_NE(with(0, 0), Verdict::kWrong);
  EXPECT_EQ(with(0, -1), Verdict::kWrong);
  EXPECT_EQ(with(7, std::nan("")), Verdict::kWrong);
  EXPECT_GT(next_to_a_step, 0);
}

TEST(NarrowTypes, ARareJumpThatNoLaneShowsIsNoError) {
  // Behind an error the runner's float16 product is a whole number, and was a little less before it was
  // rounded: of few elements no lane shows that.
  TestModel m;
  Value* h = m.node("Mul", "h",
                    {m.input("x", {64}, DType::kFloat16),
                     m.constant("k", convert(Tensor::scalar(1 / 3.0F), DType::kFloat16))});
  const auto model = m.with_outputs({h, m.node("Floor", "y", {h})});
  const std::vector<Tensor> feed{convert(Tensor::vector(std::vector<float>(64, 1.25F)), DType::kFloat16)};
  const StoredTensorList results = results_of(*model, feed);
  const auto verdict = [&](int64_t at, double floor) {
    Tensor own = to_float64(results[0].tensor.load()), y = to_float64(results[1].tensor.load());
    own.mutable_data<double>()[at] = 20;
    y.mutable_data<double>()[at] = floor;
    return judge(model, feed, {{"h", convert(own, DType::kFloat16)}, {"y", convert(y, DType::kFloat16)}})
        .outputs.back()
        .verdict;
  };
  for (int64_t at = 0; at < 64; ++at) {
    EXPECT_EQ(verdict(at, 19), Verdict::kInherited) << at;
    EXPECT_EQ(verdict(at, 18), Verdict::kWrong) << at;
    EXPECT_EQ(verdict(at, std::nan("")), Verdict::kWrong) << at;
  }
}

TEST(NarrowTypes, SoftmaxOfNumbersThatWereNotRoundedYet) {
  // Numbers near 4096 are 16 apart in bfloat16: which of two is larger, and by how much, only the backend
  // knows that had them before they were rounded.
  TestModel m;
  Value* h = m.node("Add", "h",
                    {m.input("x", {1, 8}, DType::kBFloat16),
                     m.constant("k", convert(Tensor::scalar(4096.0F), DType::kBFloat16))});
  const auto model = m.with_outputs({h, m.node("Softmax", "y", {h}, {{"axis", int64_t{-1}}})});
  const std::vector<Tensor> feed{convert(random_floats({1, 8}, 1), DType::kBFloat16)};
  const StoredTensorList results = results_of(*model, feed);
  const auto verdict = [&](std::vector<float> own, std::vector<float> y) {
    return judge(model, feed,
                 {{"h", convert(Tensor::from<float>({1, 8}, own), DType::kBFloat16)},
                  {"y", convert(Tensor::from<float>({1, 8}, y), DType::kBFloat16)}})
        .outputs.back()
        .verdict;
  };
  const std::vector<float> flat(8, 8192);  // an error of somebody before
  EXPECT_NE(verdict(flat, {0, 0, 0, 1, 0, 0, 0, 0}), Verdict::kWrong);
  EXPECT_EQ(verdict({8192, 8192, 8192, 8192, 8192, 8192, 8192, 9000}, {0, 0, 0, 1, 0, 0, 0, 0}),
            Verdict::kWrong);
}

TEST(NarrowTypes, PlacesOfNumbersThatWereNotRoundedYet) {
  // Many numbers are equal once they are rounded: only the backend knows which of them was larger.
  TestModel m;
  m.model->opsets = {{"", 24}};
  Value* h = m.node("Mul", "h",
                    {m.input("x", {2, 6}, DType::kBFloat16),
                     m.constant("k", convert(Tensor::scalar(1 / 3.0F), DType::kBFloat16))});
  Value* k = m.constant("count", Tensor::vector<int64_t>({3}));
  Value *values = m.graph.add_value("values"), *places = m.graph.add_value("places");
  m.graph.add_node("TopK", {h, k}, {values, places}, {}, "top");
  Value* best = m.node("ArgMin", "best", {h}, {{"axis", int64_t{1}}});
  const auto model = m.with_outputs({h, values, places, best});
  const auto narrow = [](std::vector<float> x) {
    return convert(Tensor::from<float>({2, static_cast<int64_t>(x.size()) / 2}, x), DType::kBFloat16);
  };
  const std::vector<Tensor> feed{narrow(std::vector<float>(12, 1))};
  const auto verdicts = [&](std::vector<int64_t> top, int64_t least) {
    const Arbitration a = judge(model, feed,
                                {{"h", narrow({4, 4, 3, 4, 4, 1, 9, 8, 7, 7, 7, 1})},
                                 {"values", narrow({4, 4, 4, 9, 8, 7})},
                                 {"places", Tensor::from<int64_t>({2, 3}, std::move(top))},
                                 {"best", Tensor::from<int64_t>({2, 1}, {least, 5})}});
    return std::pair(a.outputs[2].verdict, a.outputs[3].verdict);
  };
  using V = Verdict;
  EXPECT_NE(verdicts({0, 1, 3, 0, 1, 2}, 5).first, V::kWrong);
  EXPECT_NE(verdicts({4, 0, 3, 0, 1, 4}, 5).first, V::kWrong) << "equal ones in another order";
  EXPECT_EQ(verdicts({4, 2, 3, 0, 1, 4}, 5).first, V::kWrong) << "a smaller one";
  EXPECT_EQ(verdicts({4, 4, 3, 0, 1, 4}, 5).first, V::kWrong) << "one twice";
  EXPECT_EQ(verdicts({4, 0, 6, 0, 1, 4}, 5).first, V::kWrong) << "no place";
  EXPECT_EQ(verdicts({4, 0, 3, 1, 0, 4}, 5).first, V::kWrong) << "the wrong order";
  EXPECT_NE(verdicts({0, 1, 3, 0, 1, 2}, 5).second, V::kWrong);
  EXPECT_EQ(verdicts({0, 1, 3, 0, 1, 2}, 2).second, V::kWrong);
}

TEST(NarrowTypes, AChoiceThatFewEvaluationsShowIsLookedForInMore) {
  // Products a tenth of a float16 step apart, which are equal once they are rounded: the first is chosen.
  TestModel m;
  Value* product =
      m.node("Mul", "h", {m.input("a", {1, 2}, DType::kFloat16), m.input("b", {1, 2}, DType::kFloat16)});
  const auto model = m.with_outputs({m.node("ArgMax", "y", {product}, {{"axis", int64_t{1}}})});
  const auto steps = [](float i, float j) {
    return convert(Tensor::from<float>({1, 2}, {1 + i / 1024, 1 + j / 1024}), DType::kFloat16);
  };
  const std::vector<Tensor> feed{steps(10, 20), steps(30, 20)};
  const StoredTensorList all = results_of(*model, feed), result{all.back()};
  ASSERT_EQ(result[0].tensor.load().data<int64_t>()[0], 0);
  const ArbiterCase c{"runner", &result};
  int looked = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Arbitration a = arbitrate(model, feed, std::span(&c, 1), {.samples = 3, .seed = seed});
    EXPECT_EQ(a.outputs[0].verdict, Verdict::kRounding) << seed;
    looked += a.samples > 3;
  }
  EXPECT_GT(looked, 0);
}

TEST(NarrowTypes, AnInputMuchLargerThanItsNeighboursWasRoundedByMore) {
  // Its own noisy evaluations alone show by how much, and three of them are now and then all near the exact
  // value.
  TestModel m;
  Value* k = m.constant("k", convert(Tensor::scalar(1.0F), DType::kBFloat16));
  Value *a = m.node("Mul", "a", {m.input("x", {400}, DType::kBFloat16), k}),
        *b = m.node("Mul", "b", {m.input("z", {400}, DType::kBFloat16), k});
  const auto model = m.with_outputs({a, b, m.node("Add", "y", {a, b})});
  std::vector<float> x(400), z(400);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 100 == 7 ? -404 : 1.25F, z[i] = i % 100 == 7 ? 360 : 0.75F;
  const auto wrong = [&](size_t shift, float off) {
    std::vector<float> own_x(400), own_z(400), y(400);
    for (size_t i = 0; i < y.size(); ++i) {
      own_x[i] = x[(i + shift) % 400], own_z[i] = z[(i + shift) % 400], y[i] = own_x[i] + own_z[i];
      if (own_x[i] < 0) y[i] += off;
    }
    const auto narrow = [](const std::vector<float>& t) {
      return convert(Tensor::vector<float>(t), DType::kBFloat16);
    };
    const Verdict v = judge(model, {narrow(own_x), narrow(own_z)},
                            {{"a", narrow(own_x)}, {"b", narrow(own_z)}, {"y", narrow(y)}})
                          .outputs.back()
                          .verdict;
    return v == Verdict::kWrong || v == Verdict::kUnclear;
  };
  // Half a unit of both is 1.
  for (size_t shift = 0; shift < 100; ++shift) {
    EXPECT_FALSE(wrong(shift, -1.75F)) << shift;
    EXPECT_FALSE(wrong(shift, 1.75F)) << shift;
    EXPECT_TRUE(wrong(shift, 8)) << shift;
  }
}

Tensor half(const Tensor& t) { return convert(t, DType::kFloat16); }

TEST(NarrowTypes, InfinitiesThatWereNumbersBeforeTheyWereRounded) {
  // 90000 has no room in float16, and is infinite in the exact network, too; a backend that leaves the cast
  // out goes on with it.
  TestModel m;
  Value* x = m.node("Cast", "cast", {m.input("x", {200}, DType::kFloat32)}, {{"to", int64_t{10}}});
  Value *h = m.node("Abs", "h", {x}),
        *g = m.node("Add", "g", {h, m.constant("k", half(Tensor::scalar(300.0F)))});
  Value* given = m.input("given", {200}, DType::kFloat16);
  const auto model =
      m.with_outputs({x, h, g, m.node("Reciprocal", "inverse", {g}), m.node("Div", "quotient", {h, g}),
                      m.node("Greater", "greater", {g, h}), m.node("Reciprocal", "direct", {given})});
  std::vector<float> numbers(200);  // enough to show that all is computed in float32
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1 + static_cast<float>(i) / 128;
  std::vector<float> others = numbers;
  std::ranges::copy(std::array{90000.0F, 600.0F, -90000.0F}, numbers.begin());
  others[3] = HUGE_VALF;
  const std::vector<Tensor> feed{Tensor::vector(numbers), half(Tensor::vector(others))};
  const StoredTensorList right = results_of(*model, feed);
  const auto verdict = [&](const char* output, int64_t at, float number) {
    StoredTensorList own = right;
    const auto it = std::ranges::find_if(own, [&](const auto& o) { return o.name == output; });
    const DType type = it->tensor.dtype();
    Tensor changed = convert(it->tensor.load(), DType::kFloat32);
    changed.mutable_data<float>()[at] = number;
    it->tensor = convert(changed, type);
    const Arbitration a = judge(model, feed, own);
    return a.outputs[static_cast<size_t>(it - own.begin())].verdict;
  };
  constexpr auto kWrong = Verdict::kWrong;
  EXPECT_NE(verdict("inverse", 0, 0), kWrong) << "as ONNX says";
  EXPECT_NE(verdict("inverse", 0, 1 / 90300.0F), kWrong);
  EXPECT_NE(verdict("inverse", 2, 1 / 90300.0F), kWrong);
  EXPECT_EQ(verdict("inverse", 0, 1 / 2000.0F), kWrong) << "of a number that has room";
  EXPECT_EQ(verdict("inverse", 1, 1 / 700.0F), kWrong) << "of no infinity";
  EXPECT_NE(verdict("quotient", 0, NAN), kWrong) << "as ONNX says";
  EXPECT_NE(verdict("quotient", 0, 0.9966F), kWrong);
  EXPECT_EQ(verdict("quotient", 1, 0.9F), kWrong);
  EXPECT_NE(verdict("greater", 0, 0), kWrong) << "as ONNX says";
  EXPECT_NE(verdict("greater", 0, 1), kWrong);
  EXPECT_EQ(verdict("greater", 1, 0), kWrong) << "900 is more than 600";
  EXPECT_EQ(verdict("direct", 3, 1 / 90000.0F), kWrong) << "nobody computed that one";
}

TEST(NarrowTypes, ASumOfInfinitiesThatIsSquashed) {
  // -100000 is -infinity in float16, and with 2 * 60000 the sum of a backend that has it is above 0.
  TestModel m;
  Value* x = m.node("Cast", "h", {m.input("x", {1, 32, 2}, DType::kFloat32)}, {{"to", int64_t{10}}});
  Value* y = m.graph.add_value("y");
  m.graph.add_node("RNN",
                   {x, m.constant("w", half(Tensor::from<float>({1, 1, 2}, {1, 2}))),
                    m.constant("r", half(Tensor::from<float>({1, 1, 1}, {0})))},
                   {y}, {{"hidden_size", int64_t{1}}}, "y");
  const auto model = m.with_outputs({x, y});
  std::vector<float> numbers(64, 0.25F);
  numbers[0] = -100000, numbers[1] = 60000;
  const std::vector<Tensor> feed{Tensor::from<float>({1, 32, 2}, numbers)};
  const StoredTensorList right = results_of(*model, feed);
  const auto verdict = [&](int64_t at, float number) {
    Tensor own = to_float64(right[1].tensor.load());
    own.mutable_data<double>()[at] = number;
    return judge(model, feed, {right[0], {"y", half(own)}}).outputs[1].verdict;
  };
  EXPECT_NE(verdict(0, -1), Verdict::kWrong) << "as ONNX says";
  EXPECT_NE(verdict(0, 1), Verdict::kWrong);
  EXPECT_EQ(verdict(1, 1), Verdict::kWrong);
}

TEST(NarrowTypes, AWholeNumberThatANarrowTypeHasNoRoomFor) {
  TestModel m;
  Value* cast = m.node("Cast", "cast", {m.input("x", {16}, DType::kInt32)}, {{"to", int64_t{10}}});
  const auto model =
      m.with_outputs({m.node("Mul", "y", {cast, m.constant("k", half(Tensor::scalar(0x1p-10F)))})});
  std::vector<int32_t> numbers(16, 1024);
  numbers[3] = 102400;
  const std::vector<Tensor> feed{Tensor::vector(numbers)};
  const auto verdict = [&](float large, float small) {
    std::vector<float> y(16, 1);
    y[3] = large, y[4] = small;
    return judge(model, feed, {{"y", half(Tensor::vector(y))}}).outputs[0].verdict;
  };
  EXPECT_NE(verdict(HUGE_VALF, 1), Verdict::kWrong) << "as ONNX says";
  EXPECT_NE(verdict(100, 1), Verdict::kWrong) << "as a backend gives it that fuses";
  EXPECT_EQ(verdict(100, 1.25F), Verdict::kWrong);
}

TEST(NarrowTypes, AnotherFunctionIsFarFromAllThatItsInputsReach) {
  // Gelu by tanh is off by up to 5e-4, which is much of what it gives for negative numbers. In float16 such
  // errors are possible, but this backend computes in float32.
  TestModel m;
  Value* x = m.input("x", {4, 64}, DType::kFloat16);
  std::vector<Value*> outputs;
  for (int i = 0; i < 4; ++i) {
    x = m.node("Tanh", fmt::format("h{}", i), {x});
    x = m.node("Mul", fmt::format("g{}", i),
               {x, m.constant(fmt::format("k{}", i), half(Tensor::scalar(3.1F)))});
    outputs.push_back(x);
  }
  outputs.push_back(m.node("Gelu", "y", {x}));
  const auto model = m.with_outputs(outputs);
  const std::vector<Tensor> feed{half(random_floats({4, 64}, 1, -3, 3))};
  const StoredTensorList right = results_of(*model, feed);
  const Verdict healthy = judge(model, feed, right).outputs.back().verdict;
  EXPECT_TRUE(healthy == Verdict::kAgrees || healthy == Verdict::kRounding);
  const StoredTensorList wrong = results_of(*model, feed, [&](const std::string& name, Tensor& y) {
    if (name != "y") return;
    Tensor by_tanh = to_float64(y);
    const Tensor from = to_float64(std::ranges::find(right, "g3", &NamedStoredTensor::name)->tensor.load());
    for (int64_t i = 0; i < y.numel(); ++i) {
      const double v = from.data<double>()[i];
      by_tanh.mutable_data<double>()[i] =
          0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
    }
    y = half(by_tanh);
  });
  EXPECT_EQ(judge(model, feed, wrong).outputs.back().verdict, Verdict::kWrong);
}

TEST(NarrowTypes, AFactorOfFourRoundingsOfAllElements) {
  TestModel m;
  Value* h = m.node("Tanh", "h", {m.input("x", {256}, DType::kFloat16)});
  const auto model =
      m.with_outputs({h, m.node("Mul", "y", {h, m.constant("k", half(Tensor::scalar(0.7F)))})});
  const std::vector<Tensor> feed{half(random_floats({256}, 1, -3, 3))};
  const auto verdict = [&](double factor) {
    const StoredTensorList results = results_of(*model, feed, [&](const std::string& name, Tensor& y) {
      if (name == "y") y = half(map_elements<double>(to_float64(y), [=](double v) { return v * factor; }));
    });
    return judge(model, feed, results).outputs.back().verdict;
  };
  EXPECT_EQ(verdict(1), Verdict::kAgrees);
  EXPECT_EQ(verdict(1.003), Verdict::kWrong);
}

TEST(NarrowTypes, AFactorThatAllSumsShareIsNoRounding) {
  // Each element is within what rounding may do to it and to its inputs.
  TestModel m;
  Value* h = m.node("Tanh", "h", {m.input("x", {8, 100}, DType::kFloat16)});
  const auto model =
      m.with_outputs({h, m.node("MatMul", "y", {h, m.constant("w", half(random_floats({100, 32}, 1)))})});
  const std::vector<Tensor> feed{half(random_floats({8, 100}, 2, -3, 3))};
  const auto verdict = [&](double factor) {
    StoredTensorList results = results_of(*model, feed);
    const std::vector<Tensor> inputs{to_float64(results[0].tensor.load()),
                                     to_float64(model->graph->find_value("w")->tensor().aligned())};
    const Tensor exact = run_op("MatMul", 13, inputs)[0];
    results[1].tensor = half(map_elements<double>(exact, [=](double v) { return v * factor; }));
    return judge(model, feed, results).outputs.back();
  };
  EXPECT_EQ(verdict(1).verdict, Verdict::kAgrees);
  EXPECT_EQ(verdict(1.001).verdict, Verdict::kUnclear) << "a factor that is rounded twice";
  for (const double factor : {0.998, 1.002}) {
    EXPECT_EQ(verdict(factor).verdict, Verdict::kWrong);
    EXPECT_LT(verdict(factor).worst_ratio, 1);
    EXPECT_NE(verdict(factor).note.find("together"), std::string::npos) << verdict(factor).note;
  }
}

TEST(NarrowTypes, AnEpsilonOutsideTheRootChangesRowsAsAWhole) {
  constexpr int64_t kRows = 8, kCount = 128;
  TestModel m;
  const Tensor ones = convert(Tensor::vector(std::vector<float>(kCount, 1.0F)), DType::kFloat16);
  const auto model =
      m.with_outputs({m.node("LayerNormalization", "y",
                             {m.input("x", {kRows, kCount}, DType::kFloat16), m.constant("scale", ones)})});
  const auto verdict = [&](float size, bool outside) {
    const std::vector<Tensor> feed{half(random_floats({kRows, kCount}, 1, -size, size))};
    const Tensor wide = to_float64(feed[0]);
    StoredTensorList results = results_of(*model, feed, [&](const std::string&, Tensor& y) {
      if (!outside) return;
      Tensor other = to_float64(y);
      for (int64_t row = 0; row < kRows; ++row) {
        const double* x = wide.data<double>() + row * kCount;
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < kCount; ++i) mean += x[i] / kCount;
        for (int64_t i = 0; i < kCount; ++i) variance += (x[i] - mean) * (x[i] - mean) / kCount;
        for (int64_t i = 0; i < kCount; ++i)
          other.mutable_data<double>()[row * kCount + i] = (x[i] - mean) / (std::sqrt(variance) + 1e-5);
      }
      y = half(other);
    });
    return judge(model, feed, results).outputs.back().verdict;
  };
  EXPECT_NE(verdict(0.07F, false), Verdict::kWrong);
  EXPECT_EQ(verdict(0.07F, true), Verdict::kWrong) << "0.3 %";
  EXPECT_NE(verdict(10, true), Verdict::kWrong) << "no float16 number shows it";
}

TEST(NarrowTypes, SumsAreHeldToWhatTheyWereComputedIn) {
  // A factor or an offset that all elements share is no rounding of sums, which differ.
  TestModel m;
  const auto model = m.with_outputs({m.node(
      "MatMul", "y",
      {m.input("x", {4, 100}, DType::kFloat16), m.constant("w", half(random_floats({100, 32}, 1)))})});
  const std::vector<Tensor> feed{half(random_floats({4, 100}, 2))};
  const Tensor right = results_of(*model, feed)[0].tensor.load();
  const auto with = [&](const std::function<double(int64_t, double)>& error) {
    Tensor own = to_float64(right);
    for (int64_t i = 0; i < own.numel(); ++i)
      own.mutable_data<double>()[i] += error(i, own.data<double>()[i]);
    return judge(model, feed, {{"y", half(own)}}).outputs[0].verdict;
  };
  constexpr double kUnit = 0x1p-11;
  EXPECT_EQ(with([](int64_t, double y) { return 10 * kUnit * y; }), Verdict::kWrong);
  EXPECT_EQ(with([](int64_t, double) { return 100 * kUnit; }), Verdict::kWrong);
  EXPECT_EQ(with([](int64_t i, double y) { return i % 64 < 32 ? 10 * kUnit * y : -8 * kUnit * y; }),
            Verdict::kWrong)
      << "row by row";
  EXPECT_EQ(with([](int64_t i, double y) { return i == 5 ? 10 * kUnit * y : 0; }), Verdict::kWrong);
  EXPECT_NE(with([](int64_t i, double y) { return static_cast<double>(i * 7 % 19 - 9) * kUnit * y; }),
            Verdict::kWrong)
      << "as one that adds up in float16 may err";
}

TEST(NarrowTypes, SmallResultsAreHeldToWhatTheOthersWereComputedIn) {
  TestModel m;
  Value* x = m.input("x", {4, 100}, DType::kFloat16);
  Value* y = m.node("MatMul", "y", {x, m.constant("w", half(random_floats({100, 32}, 1)))});
  Value* z = m.node("MatMul", "z", {x, m.constant("v", half(random_floats({100, 1}, 3)))});
  const auto model = m.with_outputs({y, z});
  const std::vector<Tensor> feed{half(random_floats({4, 100}, 2))};
  const StoredTensorList right = results_of(*model, feed);
  const auto verdict = [&](double others, double own) {
    Tensor a = to_float64(right[0].tensor.load()), b = to_float64(right[1].tensor.load());
    for (int64_t i = 0; i < a.numel(); ++i)
      a.mutable_data<double>()[i] *= 1 + static_cast<double>(i * 7 % 19 - 9) * others * 0x1p-11;
    b.mutable_data<double>()[2] *= 1 + own * 0x1p-11;
    return judge(model, feed, {{"y", half(a)}, {"z", half(b)}}).outputs[1].verdict;
  };
  EXPECT_NE(verdict(0, 2), Verdict::kWrong);
  EXPECT_EQ(verdict(0, 8), Verdict::kWrong);
  EXPECT_NE(verdict(1, 8), Verdict::kWrong) << "where the others show sums in float16";
}

TEST(NarrowTypes, BodiesAreHeldToWhatTheOthersWereComputedIn) {
  TestModel m;
  Value *x = m.input("x", {4, 100}, DType::kFloat16), *yes = m.input("yes", {}, DType::kBool);
  Value* y = m.node("MatMul", "y", {x, m.constant("w", half(random_floats({100, 32}, 1)))});
  Node* choice = m.graph.add_node("If", {yes}, {m.graph.add_value("z")}, {}, "choice");
  for (const char* name : {"then_branch", "else_branch"}) {
    const auto body = std::make_shared<Graph>();
    Value* out = body->add_value(std::string(name) + "_out");
    body->add_node("MatMul",
                   {x, body->add_constant(std::string(name) + "_w", half(random_floats({100, 32}, 3)))},
                   {out}, {}, name);
    body->outputs.push_back(out);
    choice->set_attribute(name, body);
  }
  Value* z = choice->output(0);
  const auto model = m.with_outputs({y, z});
  const std::vector<Tensor> feed{half(random_floats({4, 100}, 2)), Tensor::scalar(true)};
  StoredTensorList right;
  Interpreter(model, {.precision = ReferencePrecision::kStored})
      .run(feed, [&](const Value& v, std::span<const Tensor> t) {
        right.push_back({v.name(), t[0]});
      });
  const auto verdict = [&](double others, double own) {
    Tensor a = to_float64(right[0].tensor.load()), b = to_float64(right[1].tensor.load());
    for (int64_t i = 0; i < a.numel(); ++i)
      a.mutable_data<double>()[i] *= 1 + static_cast<double>(i * 7 % 19 - 9) * others * 0x1p-11;
    for (int64_t i = 0; i < b.numel(); ++i) b.mutable_data<double>()[i] *= 1 + own * 0x1p-11;
    return judge(model, feed, {{"y", half(a)}, {"z", half(b)}}).outputs[1].verdict;
  };
  EXPECT_NE(verdict(0, 2), Verdict::kWrong);
  EXPECT_EQ(verdict(0, 16), Verdict::kWrong);
  EXPECT_NE(verdict(1, 16), Verdict::kWrong) << "where the others show sums in float16";
}

TEST(NarrowTypes, WhatOnlyMovesNumbersKeepsThem) {
  // Its neighbours are much larger: what their rounding moves is nothing that this one may be off by.
  TestModel m;
  Value* h = m.node("Mul", "h",
                    {m.input("x", {2, 100}, DType::kFloat16), m.constant("k", half(Tensor::scalar(3.0F)))});
  const auto model = m.with_outputs({h, m.node("Transpose", "y", {h})});
  std::vector<float> x(200, 3);
  x[40] = 0.001F;
  const std::vector<Tensor> feed{half(Tensor::from<float>({2, 100}, x))};
  const StoredTensorList right = results_of(*model, feed);
  const auto with = [&](double units) {
    Tensor own = to_float64(right[1].tensor.load());
    own.mutable_data<double>()[80] *= 1 + units * 0x1p-10;
    return judge(model, feed, {right[0], {"y", half(own)}}).outputs[1].verdict;
  };
  EXPECT_NE(with(0), Verdict::kWrong);
  EXPECT_EQ(with(8), Verdict::kWrong);
}

TEST(NarrowTypes, ARecurrenceOfNumbersThatWereNotRoundedYet) {
  // Most units come from their bias alone: as if computed in float32 from the stored numbers. The last four
  // are not.
  Tensor weights = to_float64(random_floats({1, 32, 8}, 1));
  for (int64_t i = 0; i < 28 * 8; ++i) weights.mutable_data<double>()[i] = 0;
  std::vector<float> bias(64);
  for (size_t i = 0; i < 28; ++i) bias[i] = 1;
  const auto build = [&](DType dtype) {
    TestModel m;
    const auto narrow = [&](const Tensor& t) { return convert(half(t), dtype); };
    Value *x = m.input("x", {20, 2, 8}, dtype), *h = x, *y = m.graph.add_value("y");
    // The wide one gets what was not rounded yet.
    if (dtype == DType::kFloat16) h = m.node("Mul", "h", {x, m.constant("k", half(Tensor::scalar(0.7F)))});
    m.graph.add_node("RNN",
                     {h, m.constant("w", narrow(weights)),
                      m.constant("r", narrow(Tensor::zeros(DType::kFloat32, {1, 32, 32}))),
                      m.constant("b", narrow(Tensor::from<float>({1, 64}, bias)))},
                     {y}, {{"hidden_size", int64_t{32}}}, "y");
    return m.with_outputs({y});
  };
  const auto model = build(DType::kFloat16), wide = build(DType::kFloat32);
  const Tensor x = half(random_floats({20, 2, 8}, 3));
  const Tensor h = results_of(*model, {x})[0].tensor.load();
  Tensor before = to_float64(h);
  for (int64_t i = 0; i < before.numel(); ++i)
    before.mutable_data<double>()[i] *= 1 + (i * 7 % 3 == 0 ? 0.45 : -0.45) * 0x1p-11;
  ASSERT_EQ(to_float64(half(before)).data<double>()[5], to_float64(h).data<double>()[5]);
  const Tensor y = half(results_of(*wide, {convert(before, DType::kFloat32)})[0].tensor.load());
  EXPECT_NE(judge(model, {x}, {{"h", h}, {"y", y}}).outputs[1].verdict, Verdict::kWrong);
  Tensor off = to_float64(y);
  off.mutable_data<double>()[31] += 0.02;
  EXPECT_EQ(judge(model, {x}, {{"h", h}, {"y", half(off)}}).outputs[1].verdict, Verdict::kWrong);
}

TEST(NarrowTypes, WhatARecurrenceIsComputedInShows) {
  // All elements but one are what float32 gives, rounded once: the one is held to that, too.
  TestModel m;
  Value* y = m.graph.add_value("y");
  m.graph.add_node(
      "GRU",
      {m.input("x", {5, 2, 8}, DType::kFloat16), m.constant("w", half(random_floats({1, 18, 8}, 1))),
       m.constant("r", half(random_floats({1, 18, 6}, 2)))},
      {y}, {{"hidden_size", int64_t{6}}}, "y");
  const auto model = m.with_outputs({y});
  const std::vector<Tensor> feed{half(random_floats({5, 2, 8}, 3))};
  const Tensor right = results_of(*model, feed)[0].tensor.load();
  const auto with = [&](int64_t count, double units) {
    Tensor own = to_float64(right);
    for (int64_t i = 0; i < count; ++i)
      own.mutable_data<double>()[i] += units * 0x1p-11 * std::abs(own.data<double>()[i]);
    return judge(model, feed, {{"y", half(own)}}).outputs[0].verdict;
  };
  EXPECT_EQ(with(1, 16), Verdict::kWrong);
  EXPECT_NE(with(right.numel(), 4), Verdict::kWrong) << "as one that rounds every step may err";
}

TEST(NarrowTypes, ACoordinateNextToAWholeNumberGoesToEitherSide) {
  // Row 17 lies at 17 / 1.7F, a little below 10, which float32 rounds to 10.
  TestModel m;
  const Tensor x = convert(random_floats({1, 1, 12, 16}, 1, 1, 2), DType::kFloat16);
  const auto model =
      m.with_outputs({m.node("Resize", "y",
                             {m.input("x", x.shape(), DType::kFloat16), nullptr,
                              m.constant("scales", Tensor::vector<float>({1, 1, 1.7F, 1}))},
                             {{"mode", std::string("nearest")},
                              {"nearest_mode", std::string("floor")},
                              {"coordinate_transformation_mode", std::string("asymmetric")}})});
  const Tensor right = to_float64(results_of(*model, {x})[0].tensor.load());
  ASSERT_EQ(right.dim(2), 20);
  const auto verdict = [&](int64_t row) {
    Tensor y = to_float64(convert(right, DType::kFloat64));
    for (int64_t i = 0; i < 16; ++i)
      y.mutable_data<double>()[17 * 16 + i] = to_float64(x).data<double>()[row * 16 + i];
    return judge(model, {x}, {{"y", convert(y, DType::kFloat16)}}).outputs[0].verdict;
  };
  EXPECT_NE(verdict(9), Verdict::kWrong);
  EXPECT_NE(verdict(10), Verdict::kWrong);
  EXPECT_EQ(verdict(11), Verdict::kWrong);
}

TEST(NarrowTypes, AZeroThatWasTooSmallIsMultipliedAsItWas) {
  TestModel m;
  Value* x = m.input("x", {64}, DType::kFloat16);
  Value *s = m.node("Sigmoid", "s", {x}), *zero = m.node("Relu", "zero", {x});
  const auto model = m.with_outputs({s, m.node("Mul", "y", {x, s}), zero, m.node("Mul", "z", {x, zero})});
  const std::vector<Tensor> feed{convert(random_floats({64}, 1, -19, -18), DType::kFloat16)};
  const StoredTensorList results = results_of(*model, feed);
  ASSERT_EQ(to_float64(results[0].tensor.load()).data<double>()[3], 0);
  const Tensor wide = to_float64(feed[0]);
  const auto verdicts = [&](double factor) {
    const Tensor y =
        convert(map_elements<double>(wide, [=](double v) { return factor * v / (1 + std::exp(-v)); }),
                DType::kFloat16);
    const Arbitration a = judge(model, feed, {results[0], results[1], {"y", y}, {"z", y}});
    return std::pair(a.outputs[2].verdict, a.outputs[3].verdict);
  };
  EXPECT_NE(verdicts(1).first, Verdict::kWrong);
  EXPECT_NE(verdicts(1).first, Verdict::kUnclear);
  EXPECT_EQ(verdicts(100).first, Verdict::kWrong) << "of what would have been no zero";
  EXPECT_EQ(verdicts(1).second, Verdict::kWrong) << "of a zero that is one";
}

TEST(NarrowTypes, AFactorOfEachRowIsNoneOfWhatIsAddedAfterwards) {
  // An epsilon of 0.01 outside the root: each row is off by a factor of its own, before the offset.
  TestModel m;
  constexpr int64_t kRows = 14, kCount = 32;
  const auto narrow = [](const Tensor& t) { return convert(t, DType::kFloat16); };
  const auto model =
      m.with_outputs({m.node("LayerNormalization", "y",
                             {m.input("x", {kRows, kCount}, DType::kFloat16),
                              m.constant("scale", narrow(random_floats({kCount}, 1, 0.5F, 1.5F))),
                              m.constant("offset", narrow(random_floats({kCount}, 2)))},
                             {{"axis", int64_t{-1}}})});
  const std::vector<Tensor> feed{narrow(random_floats({kRows, kCount}, 3, -2, 2))};
  const Tensor right = to_float64(results_of(*model, feed)[0].tensor.load()),
               offset = to_float64(model->graph->nodes()[0]->input(2)->tensor());
  const auto verdict = [&](double epsilon) {
    Tensor y = to_float64(convert(right, DType::kFloat64));
    for (int64_t i = 0; i < y.numel(); ++i) {
      const double o = offset.data<double>()[i % kCount],
                   deviation = 0.8 + 0.05 * static_cast<double>(i / kCount);
      double& v = y.mutable_data<double>()[i];
      v = o + (v - o) * deviation / (deviation + epsilon);
    }
    return judge(model, feed, {{"y", narrow(y)}}).outputs[0].verdict;
  };
  EXPECT_NE(verdict(0), Verdict::kWrong);
  EXPECT_NE(verdict(0), Verdict::kUnclear);
  EXPECT_EQ(verdict(0.01), Verdict::kWrong);
}

TEST(NarrowTypes, WhatOnlySumsInTheTypeExplainIsNotChecked) {
  TestModel m;
  constexpr int64_t kCount = 1600;
  const auto model = m.with_outputs({m.node(
      "ReduceMean", "y",
      {m.input("x", {3, kCount}, DType::kFloat16), m.constant("axes", Tensor::vector<int64_t>({1}))})});
  const std::vector<Tensor> feed{convert(random_floats({3, kCount}, 1, 0, 1), DType::kFloat16)};
  const Tensor right = to_float64(results_of(*model, feed)[0].tensor.load());
  const auto verdict = [&](double factor) {
    const Tensor y =
        convert(map_elements<double>(right, [=](double v) { return factor * v; }), DType::kFloat16);
    return judge(model, feed, {{"y", y}}).outputs[0];
  };
  EXPECT_EQ(verdict(1).verdict, Verdict::kAgrees);
  EXPECT_EQ(verdict(1.02).verdict, Verdict::kCannotTell) << "no backend's sums are known to be wider";
  EXPECT_LT(verdict(1.02).digits, 2);
  EXPECT_EQ(verdict(1.3).verdict, Verdict::kWrong);
}

}  // namespace
}  // namespace assay::narrow_types_test
