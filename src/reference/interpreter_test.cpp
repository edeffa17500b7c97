#include "reference/interpreter.h"

#include <malloc.h>

#include <cmath>
#include <set>

#include "reference/reference_test_util.h"
#include "tensor/convert.h"

namespace assay::interpreter_test {
namespace {

const InterpreterOptions kNoisy{.noisy_lanes = 3};

std::vector<double> values(const Tensor& t) { return {t.span<double>().begin(), t.span<double>().end()}; }

Tensor scalar(float x) { return Tensor::scalar<float>(x); }

TEST(Interpreter, ComputesInFloat64) {
  TestModel m;
  Value *x = m.input("x", {2}), *one = m.constant("one", scalar(1));
  const auto model = m.with_outputs({m.node("Sub", "y", {m.node("Add", "sum", {x, one}), x})});
  const Observed seen = observe(model, {Tensor::vector<float>({0x1p25F, 3})});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(values(seen[0].second[0]), (std::vector<double>{1, 1}));
}

TEST(Interpreter, StoredPrecisionRoundsAfterEachNode) {
  TestModel m;
  Value *x = m.input("x", {2}), *one = m.constant("one", scalar(1));
  Value* sum = m.node("Add", "sum", {x, one});
  const auto model = m.with_outputs({m.node("Sub", "y", {sum, x})});
  const Observed seen = observe(model, {Tensor::vector<float>({0x1p25F, 3})},
                                {.precision = ReferencePrecision::kStored}, {sum, model->graph->outputs[0]});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].second[0].dtype(), DType::kFloat32);
  EXPECT_EQ(seen[0].second[0].data<float>()[0], 0x1p25F) << "2^25 + 1 is not a float32";
  EXPECT_EQ(seen[1].second[0].data<float>()[0], 0);
  EXPECT_EQ(seen[1].second[0].data<float>()[1], 1);
}

TEST(Interpreter, ExactOperatorsHaveNoNoise) {
  TestModel m;
  Value* x = m.input("x", {4, 3});
  Value* y = m.node("Transpose", "y", {m.node("Relu", "h", {x})});
  const Observed seen = observe(m.with_outputs({y}), {random_floats({4, 3}, 1)}, kNoisy);
  ASSERT_EQ(seen[0].second.size(), 4U);
  for (const Tensor& lane : seen[0].second) EXPECT_TRUE(lane.identical(seen[0].second[0]));
}

TEST(Interpreter, LanesThatAgreeAreEvaluatedOnceAndShareTheirTensors) {
  TestModel m;
  Value *x = m.input("x", {3}), *w = m.constant("w", random_floats({3}, 2));
  Value *constant = m.node("Neg", "constant", {w}), *moved = m.node("Neg", "moved", {x}),
        *sum = m.node("Add", "sum", {x, w}), *after = m.node("Neg", "after", {sum});
  const Observed seen =
      observe(m.with_outputs({after}), {random_floats({3}, 1)}, kNoisy, {w, x, constant, moved, sum, after});
  for (const auto& [name, lanes] : seen) {
    const bool noisy = name == "sum" || name == "after";
    for (size_t i = 1; i < lanes.size(); ++i)
      EXPECT_EQ(lanes[i].shares_storage(lanes[0]), !noisy) << name << " in lane " << i;
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Interpreter, NoiseIsOfTheSizeOfRounding) {
  TestModel m;
  const auto model = m.with_outputs({m.node("Mul", "y", {m.input("x", {1000}), m.input("z", {1000})})});
  const Observed seen = observe(model, {random_floats({1000}, 1), random_floats({1000}, 2)}, kNoisy);
  const std::vector<double> exact = values(seen[0].second[0]);
  for (size_t lane = 1; lane < 4; ++lane)
    for (size_t i = 0; i < exact.size(); ++i) {
      const double error = std::fabs(seen[0].second[lane].data<double>()[i] - exact[i]),
                   size = 0x1p-24 * std::fabs(exact[i]);
      EXPECT_LE(error, size * (1 + 1e-6));
      EXPECT_GE(error, size / 2 * (1 - 1e-6));
    }
}

TEST(Interpreter, NoiseDependsOnTheSeedOnly) {
  TestModel m;
  const auto model = m.with_outputs({m.node("Exp", "y", {m.input("x", {8})})});
  const std::vector<Tensor> feed{random_floats({8}, 1)};
  const Observed a = observe(model, feed, kNoisy), b = observe(model, feed, kNoisy),
                 c = observe(model, feed, {.noisy_lanes = 3, .seed = 2});
  for (size_t lane = 1; lane < 4; ++lane) {
    EXPECT_TRUE(a[0].second[lane].identical(b[0].second[lane]));
    EXPECT_FALSE(a[0].second[lane].identical(c[0].second[lane]));
    EXPECT_FALSE(a[0].second[lane].identical(a[0].second[lane % 3 + 1]));
  }
  EXPECT_TRUE(a[0].second[0].identical(c[0].second[0])) << "lane 0 has no noise";
}

TEST(Interpreter, NoiseKeepsSpecialsAsTheyAre) {
  TestModel m;
  const auto model = m.with_outputs({m.node("Sqrt", "y", {m.input("x", {3})})});
  const Observed seen = observe(model, {Tensor::vector<float>({INFINITY, -1, 0})}, kNoisy);
  for (const Tensor& lane : seen[0].second) {
    EXPECT_EQ(lane.data<double>()[0], INFINITY);
    EXPECT_TRUE(std::isnan(lane.data<double>()[1]));
    EXPECT_EQ(lane.data<double>()[2], 0);
  }
}

/// then: captured * 2; else: captured.
Value* add_if(TestModel& m, Value* condition, Value* captured) {
  auto then_branch = std::make_shared<Graph>(), else_branch = std::make_shared<Graph>();
  Value *doubled = then_branch->add_value("doubled"), *two = then_branch->add_constant("two", scalar(2));
  Value* same = else_branch->add_value("same");
  Value* y = m.graph.add_value("y");
  m.graph.add_node("If", {condition}, {y}, {{"then_branch", then_branch}, {"else_branch", else_branch}},
                   "if");
  then_branch->set_parent(&m.graph);
  else_branch->set_parent(&m.graph);
  then_branch->add_node("Mul", {captured, two}, {doubled}, {}, "double");
  else_branch->add_node("Identity", {captured}, {same}, {}, "same");
  then_branch->outputs = {doubled};
  else_branch->outputs = {same};
  return y;
}

TEST(Interpreter, ABranchSeesWhatItsLaneCaptured) {
  TestModel m;
  Value *condition = m.input("c", {}, DType::kBool), *h = m.node("Exp", "h", {m.input("x", {5})});
  Value* y = add_if(m, condition, h);
  const auto model = m.with_outputs({y});
  for (const bool taken : {true, false}) {
    const Observed seen = observe(model, {Tensor::scalar(taken), random_floats({5}, 1)}, kNoisy, {h, y});
    for (size_t lane = 0; lane < 4; ++lane)
      for (int64_t i = 0; i < 5; ++i) {
        const double got = seen[1].second[lane].data<double>()[i],
                     captured = seen[0].second[lane].data<double>()[i];
        if (taken && lane > 0)
          EXPECT_NEAR(got, 2 * captured, 2 * 0x1p-23 * captured);
        else
          EXPECT_EQ(got, taken ? 2 * captured : captured) << lane;
      }
    EXPECT_FALSE(seen[1].second[1].identical(seen[1].second[0]));
  }
}

/// s = s * captured, `count` times, with the states as scan output.
Value* add_loop(TestModel& m, Value* start, Value* captured, int64_t count) {
  auto body = std::make_shared<Graph>();
  body->set_parent(&m.graph);
  body->add_input("i", Type::tensor(DType::kInt64, Dims()));
  Value* again = body->add_input("again", Type::tensor(DType::kBool, Dims()));
  Value* s = body->add_input("s", Type::tensor(DType::kFloat32, Shape{1}));
  Value *still = body->add_value("still"), *next = body->add_value("next"), *copy = body->add_value("copy");
  Value *last = m.graph.add_value("last"), *all = m.graph.add_value("all");
  m.graph.add_node(
      "Loop", {m.constant("count", Tensor::scalar(count)), m.constant("go", Tensor::scalar(true)), start},
      {last, all}, {{"body", body}}, "loop");
  body->add_node("Identity", {again}, {still}, {}, "still");
  body->add_node("Mul", {s, captured}, {next}, {}, "next");
  body->add_node("Identity", {next}, {copy}, {}, "copy");
  body->outputs = {still, next, copy};
  return all;
}

TEST(Interpreter, EveryIterationOfALoopErrsAnew) {
  TestModel m;
  constexpr float kFactor = 1.1F;
  Value *x = m.input("x", {1}), *factor = m.input("factor", {1});
  Value* all = add_loop(m, x, factor, 40);
  const Observed seen = observe(m.with_outputs({all}),
                                {Tensor::vector<float>({1.5F}), Tensor::vector<float>({kFactor})}, kNoisy);
  for (size_t lane = 1; lane < 4; ++lane) {
    std::set<double> errors;
    double before = 1.5;
    for (const double s : values(seen[0].second[lane])) {
      const double error = s / (before * kFactor) - 1;
      errors.insert(error);
      EXPECT_LE(std::fabs(error), 1.5 * 0x1p-24 * (1 + 1e-6));
      before = s;
    }
    EXPECT_EQ(errors.size(), 40U);
    EXPECT_LE(std::fabs(before / (1.5 * std::pow(double{kFactor}, 40)) - 1), 40 * 1.5 * 0x1p-24);
  }
  double exact = 1.5;
  for (const double s : values(seen[0].second[0])) EXPECT_EQ(s, exact *= kFactor);
}

TEST(Interpreter, AScanRunsInEveryLane) {
  TestModel m;
  Value *x = m.input("x", {4, 2}), *start = m.input("start", {2});
  auto body = std::make_shared<Graph>();
  body->set_parent(&m.graph);
  Value* s = body->add_input("s", Type::tensor(DType::kFloat32, Shape{2}));
  Value* row = body->add_input("row", Type::tensor(DType::kFloat32, Shape{2}));
  Value *sum = body->add_value("sum"), *copy = body->add_value("copy");
  body->add_node("Add", {s, row}, {sum}, {}, "sum");
  body->add_node("Identity", {sum}, {copy}, {}, "copy");
  body->outputs = {sum, copy};
  Value *last = m.graph.add_value("last"), *sums = m.graph.add_value("sums");
  m.graph.add_node("Scan", {start, x}, {last, sums}, {{"body", body}, {"num_scan_inputs", int64_t{1}}},
                   "scan");
  const Tensor in = random_floats({4, 2}, 3, 0.5F, 1);
  const Observed seen =
      observe(m.with_outputs({last, sums}), {in, Tensor::vector<float>({0.1F, 0.1F})}, kNoisy);
  const Tensor wide = to_float64(in);
  for (int64_t c = 0; c < 2; ++c) {
    double exact = 0.1F;
    for (int64_t r = 0; r < 4; ++r) exact += wide.data<double>()[r * 2 + c];
    EXPECT_DOUBLE_EQ(seen[0].second[0].data<double>()[c], exact);
    for (size_t lane = 1; lane < 4; ++lane) {
      EXPECT_NE(seen[0].second[lane].data<double>()[c], exact);
      EXPECT_NEAR(seen[0].second[lane].data<double>()[c], exact, 6 * 0x1p-24 * exact);
    }
  }
}

TEST(Interpreter, ObserverSeesEveryWantedValueOnceInOrder) {
  TestModel m;
  Value *x = m.input("x", {3}), *w = m.constant("w", random_floats({3}, 2));
  Value *a = m.node("Add", "a", {x, w}), *b = m.node("Neg", "b", {a}), *c = m.node("Abs", "c", {b});
  Value* unused = m.node("Exp", "unused", {a});
  const auto model = m.with_outputs({c});
  std::vector<std::string> names;
  for (const auto& [name, lanes] : observe(model, {random_floats({3}, 1)}, {}, {c, unused, b, a, w, x}))
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "w", "a", "b", "c", "unused"}));
}

TEST(Interpreter, DropsValuesAfterTheirLastUse) {
  constexpr int64_t kElements = int64_t{1} << 20;
  TestModel m;
  Value* v = m.input("x", {kElements});
  for (int i = 0; i < 40; ++i) v = m.node(i % 2 == 0 ? "Neg" : "Abs", "v" + std::to_string(i), {v});
  const auto model = m.with_outputs({v});
  std::vector<const Value*> all;
  for (const auto& value : model->graph->values()) all.push_back(value.get());
  const std::vector<Tensor> feed{random_floats({kElements}, 1)};
  Interpreter interpreter(model, {});
  const auto in_use = [] {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<int64_t>(info.uordblks + info.hblkhd);
  };
  const int64_t before = in_use();
  int64_t most = 0;
  interpreter.run(
      feed, [&](const Value&, std::span<const Tensor>) { most = std::max(most, in_use() - before); }, all);
  EXPECT_LE(most, 4 * kElements * static_cast<int64_t>(sizeof(double)));
}

TEST(InterpreterErrors, NameWhatIsWrong) {
  TestModel m;
  Value *x = m.input("x", {3}), *z = m.input("z", {3});
  const auto model = m.with_outputs({m.node("Add", "y", {x, z})});
  EXPECT_EQ(error_of([&] { observe(model, {random_floats({3}, 1)}); }),
            "the model takes 2 inputs, but 1 are given");
  EXPECT_NE(error_of([&] {
              observe(model, {random_floats({3}, 1), random_floats({2}, 1)});
            }).find("'y'"),
            std::string::npos);
  EXPECT_THROW(Interpreter(model, {.precision = ReferencePrecision::kStored, .noisy_lanes = 1}), Error);

  TestModel unknown;
  const auto strange = unknown.with_outputs({unknown.node("Frobnicate", "y", {unknown.input("x", {3})})});
  const std::string message = error_of([&] { Interpreter(strange, {}); });
  EXPECT_NE(message.find("'y' (Frobnicate)"), std::string::npos) << message;

  TestModel missing;
  Value* w = missing.graph.add_value("w", Type::tensor(DType::kFloat32, Shape{3}));
  w->set_missing();
  const auto without = missing.with_outputs({missing.node("Neg", "y", {w})});
  EXPECT_NE(error_of([&] { observe(without, {}); }).find("the data of initializer 'w' were not loaded"),
            std::string::npos);
}

/// A suspect with one value and no observations.
struct Onlooker final : Suspect {
  explicit Onlooker(const Value& v) : value(v) {}
  bool has(const Value& v) const override { return &v == &value; }
  Tensor compare(const Computed&) override { return {}; }
  Tensor uncomputed(const Value&, const std::string&, const Node*) override { return {}; }
  const Value& value;
};

TEST(Interpreter, FollowingSaysHowFarItIs) {
  TestModel m;
  Value* x = m.input("x", {2});
  Value* y = m.node("Exp", "y", {x});
  Value* unused = m.node("Neg", "unused", {x});
  Value* z = m.node("Neg", "z", {y});
  std::vector<std::pair<size_t, size_t>> seen;
  Interpreter interpreter(m.with_outputs({z, unused}),
                          {.progress = [&](size_t done, size_t all) { seen.emplace_back(done, all); }});
  Onlooker onlooker(*z);
  Suspect* const suspects[] = {&onlooker};
  const Tensor feed[] = {random_floats({2}, 1)};
  interpreter.follow(feed, suspects);
  EXPECT_EQ(seen, (std::vector<std::pair<size_t, size_t>>{{0, 2}, {1, 2}}));
}

}  // namespace
}  // namespace assay::interpreter_test
