#include "arbiter/arbiter_test_util.h"

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/log.h"
#include "console/verdict_text.h"
#include "naming/origins.h"
#include "tensor/convert.h"

namespace assay::arbiter_test {
namespace {

/// y = x W, of 4 rows and 6 columns, over k terms.
struct Product {
  explicit Product(int64_t k = 32, DType dtype = DType::kFloat32) {
    TestModel m;
    const Tensor w = convert(random_floats({k, 6}, 1), dtype);
    model = m.with_outputs({m.node("MatMul", "y", {m.input("x", {4, k}, dtype), m.constant("w", w)})});
    feed = {convert(random_floats({4, k}, 2), dtype)};
    exact = to_float64(observe(model, feed)[0].second[0]);
    rounded = convert(exact, dtype);
  }
  ArbiterVerdict verdict(const Tensor& result) const {
    const Arbitration a = judge(model, feed, {{"y", result}});
    EXPECT_EQ(a.outputs.size(), 1U);
    EXPECT_EQ(a.all_right(), a.outputs[0].verdict != Verdict::kWrong);
    return a.outputs[0];
  }
  /// The rounded result with one element changed.
  Tensor with(int64_t at, float value) const {
    Tensor t = rounded;
    t.mutable_data<float>()[at] = value;
    return t;
  }

  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  Tensor exact, rounded;
};

TEST(Arbiter, CorrectlyRoundedResultsAgree) {
  const Product p;
  const ArbiterVerdict v = p.verdict(p.rounded);
  EXPECT_EQ(v.verdict, Verdict::kAgrees);
  EXPECT_EQ(v.runner, "runner");
  EXPECT_EQ(v.output, "y");
  EXPECT_EQ(v.shape, (Shape{4, 6}));
  EXPECT_LE(v.max_error, 0x1p-24 * 32);
}

TEST(Arbiter, AFewUnitsInTheLastPlaceAreRounding) {
  const Product p;
  Tensor t = p.rounded;
  for (float& x : t.mutable_span<float>()) x = std::nextafter(std::nextafter(x, 9.0F), 9.0F);
  const ArbiterVerdict v = p.verdict(t);
  EXPECT_EQ(v.verdict, Verdict::kRounding);
  EXPECT_GT(v.worst_ratio, 0.01);
}

TEST(Arbiter, AWrongValueIsFound) {
  const Product p;
  const double exact = p.exact.data<double>()[9];
  const ArbiterVerdict v = p.verdict(p.with(9, static_cast<float>(exact + 1e-4)));
  EXPECT_EQ(v.verdict, Verdict::kWrong);
  EXPECT_TRUE(v.problem.empty());
  EXPECT_EQ(v.worst_at, 9);
  EXPECT_DOUBLE_EQ(v.worst_exact, exact);
  EXPECT_NEAR(v.worst_error, 1e-4, 1e-6);
  EXPECT_NEAR(v.worst_ratio * v.worst_explained, v.worst_error, 1e-12);
}

TEST(Arbiter, ShapeAndTypeMustBeRight) {
  const Product p;
  const ArbiterVerdict shape = p.verdict(p.rounded.reshaped({6, 4}));
  EXPECT_EQ(shape.verdict, Verdict::kWrong);
  EXPECT_EQ(shape.problem, "its shape is (6, 4), not (4, 6)");
  for (const DType other : {DType::kFloat16, DType::kFloat64, DType::kInt32}) {
    const ArbiterVerdict type = p.verdict(convert(p.rounded, other));
    EXPECT_EQ(type.verdict, Verdict::kWrong);
    EXPECT_EQ(type.problem, fmt::format("its type is {}, not float32", dtype_name(other)));
  }
}

TEST(Arbiter, SpecialsWhereNumbersBelongAreWrong) {
  const Product p;
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    const ArbiterVerdict v = p.verdict(p.with(3, special));
    EXPECT_EQ(v.verdict, Verdict::kWrong) << special;
    EXPECT_EQ(v.worst_at, 3);
  }
}

TEST(Arbiter, SpecialsMustBeTheSame) {
  TestModel m;
  const auto model = m.with_outputs({m.node("Div", "y", {m.input("x", {4}), m.input("z", {4})})});
  const std::vector<Tensor> feed{Tensor::vector<float>({1, -1, 0, 3}), Tensor::vector<float>({0, 0, 0, 2})};
  const auto verdict = [&](std::vector<float> y) {
    return judge(model, feed, {{"y", Tensor::vector<float>(y)}}).outputs[0].verdict;
  };
  EXPECT_EQ(verdict({INFINITY, -INFINITY, NAN, 1.5F}), Verdict::kAgrees);
  EXPECT_EQ(verdict({-INFINITY, -INFINITY, NAN, 1.5F}), Verdict::kWrong);
  EXPECT_EQ(verdict({INFINITY, -INFINITY, 0, 1.5F}), Verdict::kWrong);
  EXPECT_EQ(verdict({3e38F, -INFINITY, NAN, 1.5F}), Verdict::kWrong);
  EXPECT_EQ(verdict({NAN, -INFINITY, NAN, 1.5F}), Verdict::kWrong);
}

TEST(Arbiter, AnOverflowIsTheTypesFault) {
  TestModel m;
  const DType half = DType::kFloat16;
  Value* x = m.input("x", {3}, half);
  Value *square = m.node("Mul", "square", {x, x}), *y = m.node("Sub", "y", {square, square});
  const auto model = m.with_outputs({square, y});
  const std::vector<Tensor> feed{convert(Tensor::vector<float>({300, 2, 3}), half)};
  const auto stored = [&](std::vector<float> v) { return convert(Tensor::vector<float>(v), half); };
  const Arbitration a =
      judge(model, feed, {{"square", stored({INFINITY, 4, 9})}, {"y", stored({NAN, 0, 0})}});
  EXPECT_EQ(a.outputs[0].verdict, Verdict::kAgrees);
  EXPECT_EQ(a.outputs[0].overflows, 1);
  EXPECT_NE(a.outputs[1].verdict, Verdict::kWrong) << "it follows from what the type made infinite";
}

TEST(Arbiter, Float16ResultsAreJudgedAsSuch) {
  const Product p(32, DType::kFloat16);
  EXPECT_EQ(p.verdict(p.rounded).verdict, Verdict::kAgrees);
  Tensor t = convert(p.rounded, DType::kFloat32);
  for (float& x : t.mutable_span<float>()) x *= 1 + 0x1p-10F;
  EXPECT_EQ(p.verdict(convert(t, DType::kFloat16)).verdict, Verdict::kRounding);
  t.mutable_data<float>()[5] += 0.25F;
  const ArbiterVerdict wrong = p.verdict(convert(t, DType::kFloat16));
  EXPECT_EQ(wrong.verdict, Verdict::kWrong);
  EXPECT_EQ(wrong.worst_at, 5);
}

TEST(Arbiter, EmptyTensorsAgree) {
  TestModel m;
  const auto model = m.with_outputs({m.node("Exp", "y", {m.input("x", {0, 3})})});
  const Tensor none = Tensor::zeros(DType::kFloat32, {0, 3});
  EXPECT_EQ(judge(model, {none}, {{"y", none}}).outputs[0].verdict, Verdict::kAgrees);
  EXPECT_EQ(judge(model, {none}, {{"y", none.reshaped({3, 0})}}).outputs[0].verdict, Verdict::kWrong);
}

TEST(Arbiter, ZerosMustBeZeros) {
  TestModel m;
  Value* x = m.input("x", {3});
  const auto model = m.with_outputs({m.node("Sub", "y", {x, x})});
  const std::vector<Tensor> feed{random_floats({3}, 1)};
  const auto verdict = [&](float v) {
    return judge(model, feed, {{"y", Tensor::vector<float>({0, v, -0.0F})}}).outputs[0].verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::kAgrees);
  EXPECT_EQ(verdict(1e-30F), Verdict::kWrong);
}

TEST(Arbiter, ResultsOfOtherNamesAreLeftOut) {
  const Product p;
  EXPECT_TRUE(judge(p.model, p.feed, {{"nobody", p.rounded}}).outputs.empty());
  EXPECT_TRUE(judge(p.model, p.feed, {}).all_right());
}

TEST(Arbiter, JudgesEachRunner) {
  const Product p;
  const StoredTensorList good{{"y", p.rounded}}, bad{{"y", p.with(0, 100)}};
  const ArbiterCase cases[] = {{"good", &good}, {"bad", &bad}};
  const Arbitration a = arbitrate(p.model, p.feed, cases);
  ASSERT_EQ(a.outputs.size(), 2U);
  EXPECT_EQ(a.outputs[0].verdict, Verdict::kAgrees);
  EXPECT_EQ(a.outputs[1].verdict, Verdict::kWrong);
  EXPECT_EQ(a.outputs[1].runner, "bad");
  EXPECT_FALSE(a.all_right());
}

/// Each runner is followed on its own way: what one has is not the other's.
TEST(Arbiter, RunnersDoNotMix) {
  TestModel m;
  Value* a = m.node("Exp", "a", {m.input("x", {4, 5})});
  Value* b = m.node("MatMul", "b", {a, m.constant("w", random_floats({5, 3}, 1))});
  Value* c = m.node("Sigmoid", "c", {b});
  const auto model = m.with_outputs({m.node("Add", "d", {c, m.node("Tanh", "e", {b})})});
  const std::vector<Tensor> feed{random_floats({4, 5}, 2)};
  std::vector<StoredTensorList> results;
  const std::vector<std::string> spoilt{"", "a", "b", "c", "d"};
  for (const std::string& which : spoilt)
    results.push_back(results_of(*model, feed, [&](const std::string& name, Tensor& t) {
      if (name == which) t.mutable_data<float>()[1] *= 1.01F;
    }));
  std::vector<ArbiterCase> cases;
  for (size_t i = 0; i < results.size(); ++i) cases.push_back({"spoilt:" + spoilt[i], &results[i]});
  const Arbitration all = arbitrate(model, feed, cases);
  EXPECT_EQ(all.outputs.size(), 5 * spoilt.size());
  for (const ArbiterVerdict& o : all.outputs)
    EXPECT_EQ(o.verdict == Verdict::kWrong, o.runner == "spoilt:" + o.output) << o.runner << ", " << o.output;
}

/// x -> a = Exp -> b = MatMul -> c = Sigmoid, and d = Neg beside it.
struct Chain {
  Chain() {
    TestModel m;
    Value* a = m.node("Exp", "a", {m.input("x", {4, 5})});
    Value* b = m.node("MatMul", "b", {a, m.constant("w", random_floats({5, 3}, 1))});
    model = m.with_outputs({m.node("Sigmoid", "c", {b}), m.node("Neg", "d", {a})});
  }
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed{random_floats({4, 5}, 2)};
};

void spoil(Tensor& t) { t.mutable_data<float>()[1] *= 1.01F; }

TEST(Arbiter, TellsTheMakerFromTheHeirs) {
  const Chain chain;
  EXPECT_TRUE(judge(chain.model, chain.feed, results_of(*chain.model, chain.feed)).all_right());
  const StoredTensorList results =
      results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
        if (name == "b") spoil(t);
      });
  const Arbitration a = judge(chain.model, chain.feed, results);
  ASSERT_EQ(a.outputs.size(), 4U);
  const auto of = [&](const char* name) {
    return *std::find_if(a.outputs.begin(), a.outputs.end(), [&](const auto& o) { return o.output == name; });
  };
  EXPECT_EQ(of("b").node, "'b' (MatMul)");
  EXPECT_EQ(of("b").verdict, Verdict::kWrong);
  EXPECT_EQ(of("b").basis, Basis::kNode);
  EXPECT_GT(of("b").worst_ratio, 100);
  EXPECT_TRUE(of("b").certain);
  EXPECT_EQ(of("b").beyond, 1);
  EXPECT_EQ(of("b").pattern, "a single element");
  EXPECT_EQ(of("c").node, "'c' (Sigmoid)");
  EXPECT_EQ(of("c").verdict, Verdict::kInherited);
  EXPECT_LT(of("c").worst_ratio, 1);
  EXPECT_EQ(of("a").verdict, Verdict::kAgrees);
  EXPECT_EQ(of("d").verdict, Verdict::kAgrees);
}

TEST(Arbiter, TheSecondMakerIsFoundBehindTheFirst) {
  const Chain chain;
  const StoredTensorList results =
      results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
        if (name == "a" || name == "c") spoil(t);
      });
  const Arbitration a = judge(chain.model, chain.feed, results);
  std::string wrong;
  for (const ArbiterVerdict& o : a.outputs)
    if (o.verdict == Verdict::kWrong) wrong += o.output;
  EXPECT_EQ(wrong, "ac");
}

/// What a network makes of rounding is no fault: here the logistic map, which soon forgets where it began.
TEST(Arbiter, NobodyIsWrongWhomNoNodeMakesSo) {
  TestModel m;
  Value* y = m.input("x", {64});
  std::vector<Value*> values;
  for (int i = 0; i < 60; ++i) {
    const std::string name = std::to_string(i);
    Value* scaled = m.node("Mul", "scaled" + name, {y, m.constant("k" + name, Tensor::scalar(3.9F))});
    Value* rest = m.node("Sub", "rest" + name, {m.constant("one" + name, Tensor::scalar(1.0F)), y});
    y = m.node("Mul", "y" + name, {scaled, rest});
    values.insert(values.end(), {scaled, rest, y});
  }
  const auto model = m.with_outputs(values);
  std::vector<float> x;
  for (int i = 0; i < 64; ++i) x.push_back(0.1F + static_cast<float>(i) * 0.01F);
  const std::vector<Tensor> feed{Tensor::vector<float>(x)};
  const Arbitration a = judge(model, feed, results_of(*model, feed));
  EXPECT_TRUE(a.all_right());
  EXPECT_FALSE(a.any(Verdict::kUnclear));
  EXPECT_FALSE(a.any(Verdict::kInherited)) << "from whom?";
  double far = 0;
  for (const ArbiterVerdict& o : a.outputs) far = std::max(far, o.max_error);
  EXPECT_GT(far, 0.1);
}

/// A value that the suspect gives in another shape, and an index that it gives out of range, end no verdict.
TEST(Arbiter, ASuspectThatBreaksItsOwnShapesIsAFinding) {
  TestModel m;
  Value* x = m.input("x", {4, 6});
  Value* best = m.node("ArgMax", "best", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  Value* row = m.node("Gather", "row", {m.constant("table", random_floats({6, 3}, 1)), best});
  const auto model = m.with_outputs({best, row, m.node("Neg", "neg", {row})});
  const std::vector<Tensor> feed{random_floats({4, 6}, 2)};
  StoredTensorList results = results_of(*model, feed);
  for (NamedStoredTensor& t : results)
    if (t.name == "best") t.tensor = Tensor::vector<int64_t>({0, 1, 2, 99});
  const Arbitration a = judge(model, feed, results);
  ASSERT_EQ(a.outputs.size(), 3U);
  EXPECT_EQ(a.outputs[0].verdict, Verdict::kWrong);
  EXPECT_EQ(a.outputs[1].verdict, Verdict::kInherited);
  EXPECT_NE(a.outputs[1].note.find("cannot be evaluated"), std::string::npos);
  EXPECT_EQ(a.outputs[2].verdict, Verdict::kAgrees);
}

TEST(Arbiter, SumsOfWholeNumbersAreExact) {
  TestModel m;
  const auto model =
      m.with_outputs({m.node("ReduceSum", "y", {m.input("x", {1000})}, {{"keepdims", int64_t{0}}})});
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i) x.push_back(static_cast<float>(i % 37 - 9));
  const std::vector<Tensor> feed{Tensor::vector<float>(x)};
  const float sum = std::accumulate(x.begin(), x.end(), 0.0F);
  EXPECT_EQ(judge(model, feed, {{"y", Tensor::scalar(sum)}}).outputs[0].verdict, Verdict::kAgrees);
  EXPECT_EQ(judge(model, feed, {{"y", Tensor::scalar(std::nextafter(sum, 1e9F))}}).outputs[0].verdict,
            Verdict::kWrong);
}

TEST(Arbiter, ANodeOfWhatIsFedHasNobodyToInheritFrom) {
  const Chain chain;
  const StoredTensorList results =
      results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
        if (name == "a") spoil(t);
      });
  const Arbitration a = judge(chain.model, chain.feed, results);
  ASSERT_EQ(a.outputs.size(), 4U);
  EXPECT_EQ(a.outputs[0].verdict, Verdict::kWrong);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(a.outputs[i].verdict, Verdict::kInherited) << a.outputs[i].node;
}

TEST(Arbiter, WithoutItsInputsTheOriginIsUnknown) {
  const Chain chain;
  StoredTensorList results = results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
    if (name == "b") spoil(t);
  });
  std::erase_if(results, [](const NamedStoredTensor& t) { return t.name != "c"; });
  const Arbitration a = judge(chain.model, chain.feed, results);
  ASSERT_EQ(a.outputs.size(), 1U);
  EXPECT_EQ(a.outputs[0].verdict, Verdict::kWrong);
  EXPECT_EQ(a.outputs[0].basis, Basis::kNetwork);
}

TEST(Arbiter, TheCallOfAFunctionIsJudgedAsANode) {
  // x -> Sigmoid -> MatMul -> y, of which the outer values alone are known.
  const auto judged = [](bool one_call, float factor) {
    TestModel m;
    Value* s = m.node("Sigmoid", "call/s", {m.input("x", {4, 16})});
    Value* y = m.node("MatMul", "y", {s, m.constant("w", random_floats({16, 8}, 1))});
    if (one_call)
      for (const auto& n : m.graph.nodes()) set_origins(*n, {"call"});
    const auto model = m.with_outputs({y});
    const std::vector<Tensor> feed{random_floats({4, 16}, 2)};
    StoredTensorList results = results_of(*model, feed);
    Tensor own = results[1].tensor.load();
    own.mutable_data<float>()[5] += factor * 0x1p-24F;
    return judge(model, feed, {{"y", own}}).outputs[0];
  };
  float size = 1;
  while (judged(true, size).verdict != Verdict::kWrong) ASSERT_LT(size *= 1.25F, 1e6F);
  EXPECT_EQ(judged(true, size / 1.25F).verdict, Verdict::kUnclear) << "next to what is explained";
  EXPECT_EQ(judged(false, size).verdict, Verdict::kUnclear);
  EXPECT_FALSE(judged(true, size).certain);
  EXPECT_EQ(judged(true, 1).verdict, Verdict::kRounding);
}

TEST(Arbiter, OnlyWhatLeavesTheWorstCaseIsProven) {
  // 4096 terms: the worst case is more than ten times what is explained.
  const Product p(4096);
  const auto finding = [&](double error) {
    const auto value = static_cast<float>(p.exact.data<double>()[7] + error);
    const Arbitration a = judge(p.model, p.feed, {{"y", p.with(7, value)}});
    EXPECT_EQ(a.outputs[0].verdict, Verdict::kWrong) << error;
    return a.outputs[0];
  };
  const double u = 0x1p-24, magnitude = 4096 * 0.25;
  EXPECT_FALSE(finding(400 * u * magnitude).certain);
  EXPECT_TRUE(finding(8192 * u * magnitude).certain);
}

/// 64 rows whose two largest values differ by less than rounding, then 64 rows where they do not.
struct Largest {
  Largest() {
    TestModel m;
    Value* h = m.node("Mul", "h", {m.input("x", {128, 2}), m.constant("third", Tensor::scalar(1 / 3.0F))});
    model = m.with_outputs({m.node("ArgMax", "y", {h}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}})});
    std::vector<float> x;
    for (int i = 0; i < 128; ++i) {
      // A product that has to be rounded: one that comes out exactly leaves nothing to decide.
      x.push_back(1.1F);
      x.push_back(i < 64 ? 1.1F : 0.5F);
    }
    feed = {Tensor::from<float>({128, 2}, x)};
  }
  Arbitration with_differences(int64_t first, int64_t last) const {
    std::vector<int64_t> y(128, 0);
    for (int64_t i = first; i < last; ++i) y[static_cast<size_t>(i)] = 1;
    return judge(model, feed, {{"y", Tensor::vector<int64_t>(y)}});
  }
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
};

TEST(Arbiter, RoundingMayDecideIntegers) {
  const Largest m;
  EXPECT_EQ(m.with_differences(0, 0).outputs[0].verdict, Verdict::kAgrees);
  const ArbiterVerdict v = m.with_differences(10, 30).outputs[0];
  EXPECT_EQ(v.verdict, Verdict::kRounding);
  EXPECT_EQ(v.worst_at, 10);
  EXPECT_EQ(v.problem.find("20 of 128 values differ, where rounding decides about"), 0U) << v.problem;
}

TEST(Arbiter, IntegersThatRoundingDoesNotDecideMustBeEqual) {
  TestModel m;
  const auto model = m.with_outputs({m.node("ArgMax", "y", {m.input("x", {3, 2})}, {{"axis", int64_t{1}}})});
  const std::vector<Tensor> feed{Tensor::from<float>({3, 2}, {1, 2, 3, 4, 6, 5})};
  const Arbitration a = judge(model, feed, {{"y", Tensor::from<int64_t>({3, 1}, {1, 0, 0})}});
  EXPECT_EQ(a.outputs[0].verdict, Verdict::kWrong);
  EXPECT_EQ(a.outputs[0].problem, "1 of 3 values differ");
  EXPECT_EQ(a.outputs[0].worst_at, 1);
  EXPECT_EQ(a.outputs[0].basis, Basis::kNode);
  EXPECT_TRUE(a.outputs[0].certain);
  const ArbiterVerdict type =
      judge(model, feed, {{"y", Tensor::from<int32_t>({3, 1}, {1, 1, 0})}}).outputs[0];
  EXPECT_EQ(type.problem, "its type is int32, not int64");
}

TEST(Arbiter, BooleansAndPackedIntegersAreComparedByElement) {
  TestModel m;
  Value* x = m.input("x", {3});
  Value* packed = m.node("Cast", "packed", {x}, {{"to", int64_t{static_cast<int64_t>(DType::kInt4)}}});
  const auto model =
      m.with_outputs({packed, m.node("Less", "less", {x, m.constant("two", Tensor::scalar(2.0F))})});
  const std::vector<Tensor> feed{Tensor::vector<float>({1, 2, 3})};
  StoredTensorList right = results_of(*model, feed);
  EXPECT_TRUE(judge(model, feed, right).all_right());
  const Tensor other = convert(Tensor::vector<float>({1, 2, 4}), DType::kInt4);
  const StoredTensorList wrong{{"packed", other}, {"less", Tensor::vector<bool>({true, true, false})}};
  const Arbitration a = judge(model, feed, wrong);
  EXPECT_EQ(a.outputs[0].worst_at, 2);
  EXPECT_EQ(a.outputs[1].worst_at, 1);
}

TEST(Arbiter, TracesNodesThatRunSubgraphs) {
  TestModel m;
  Value *h = m.node("Exp", "h", {m.input("x", {4})}), *y = m.graph.add_value("y");
  const auto branch = [&](const char* op) {
    auto g = std::make_shared<Graph>();
    g->set_parent(&m.graph);
    Value* out = g->add_value(std::string("out_") + op);
    g->outputs = {out};
    g->add_node(op, {h}, {out}, {}, op);
    return g;
  };
  m.graph.add_node("If", {m.constant("yes", Tensor::scalar(true))}, {y},
                   {{"then_branch", branch("Sigmoid")}, {"else_branch", branch("Neg")}}, "y");
  const auto model = m.with_outputs({y});
  const std::vector<Tensor> feed{random_floats({4}, 1)};
  const auto origin = [&](float factor_h, float factor_y) {
    Tensor own_h = convert(observe(model, feed, {}, {h})[0].second[0], DType::kFloat32), own_y = own_h;
    own_h.mutable_data<float>()[2] *= factor_h;
    for (int64_t i = 0; i < 4; ++i)
      own_y.mutable_data<float>()[i] = 1 / (1 + std::exp(-own_h.data<float>()[i]));
    own_y.mutable_data<float>()[2] *= factor_y;
    const Arbitration a = judge(model, feed, {{"h", own_h}, {"y", own_y}});
    EXPECT_EQ(a.outputs.back().output, "y");
    return a.outputs.back().verdict;
  };
  EXPECT_EQ(origin(1.01F, 1), Verdict::kInherited);
  EXPECT_EQ(origin(1, 1.01F), Verdict::kWrong);
  EXPECT_EQ(origin(1.01F, 1.01F), Verdict::kWrong);
}

TEST(Arbiter, NoiseOfOneSourceInEveryElementIsNotUnderestimated) {
  // Each row is one number times a constant: its elements say no more of the spread than one does.
  TestModel m;
  Value* sum =
      m.node("MatMul", "sum", {m.input("x", {1000, 16}), m.constant("w", random_floats({16, 1}, 1))});
  const auto model = m.with_outputs({m.node(
      "Mul", "y",
      {sum,
       m.constant("ones", convert(Tensor::vector<double>(std::vector<double>(64, 1.0)), DType::kFloat32))})});
  for (unsigned seed = 0; seed < 2; ++seed) {
    const std::vector<Tensor> feed{random_floats({1000, 16}, seed)};
    Tensor y = convert(observe(model, feed)[0].second[0], DType::kFloat32);
    for (int64_t r = 0; r < 1000; ++r) {
      float sum_in_float = 0;
      for (int64_t k = 0; k < 16; ++k)
        sum_in_float += feed[0].data<float>()[r * 16 + k] *
                        model->graph->find_value("w")->tensor().aligned().data<float>()[k];
      std::fill_n(y.mutable_data<float>() + r * 64, 64, sum_in_float);
    }
    EXPECT_LT(judge(model, feed, {{"y", y}}).outputs[0].worst_ratio, 0.7) << seed;
  }
}

TEST(ArbiterReport, ThePatternIsThatOfTheElementsThatAreWrong) {
  TestModel m;
  const auto model = m.with_outputs({m.node("Exp", "y", {m.input("x", {1, 2, 4})})});
  Tensor x = Tensor::allocate(DType::kFloat32, Shape{1, 2, 4});
  for (int64_t i = 0; i < 8; ++i)
    x.mutable_data<float>()[i] = i < 4 ? 0.0F : 10.0F + 0.01F * static_cast<float>(i);
  const Arbitration a = judge(model, {x}, results_of(*model, {x}, [](const std::string&, Tensor& t) {
                                auto* v = t.mutable_data<float>();
                                for (int i = 0; i < 4; ++i) v[i] += 1e-2F * static_cast<float>(1 + i * i);
                                for (int i = 4; i < 8; ++i) v[i] += 0.004F;  // two units in the last place
                              }));
  ASSERT_EQ(a.outputs.at(0).verdict, Verdict::kWrong);
  EXPECT_EQ(a.outputs[0].beyond, 4);
  EXPECT_EQ(a.outputs[0].pattern, "only index 0 of axis 1 (of 2)");
}

TEST(ArbiterReport, SaysWhoMadeIt) {
  const Chain chain;
  const StoredTensorList results =
      results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
        if (name == "b") spoil(t);
      });
  log::Capture capture;
  print_verdict(judge(chain.model, chain.feed, results), {});
  const std::string text = capture.out() + capture.err();
  EXPECT_NE(text.find("First Divergence | runner | Node 'b' (MatMul) | Output: 'b'"), std::string::npos)
      << text;
  EXPECT_NE(text.find("made here, certainly"), std::string::npos) << text;
  EXPECT_EQ(text.find("Output: 'b' (shape=(4, 3))\n"), std::string::npos) << "the rest is told on request";
  EXPECT_EQ(text.find("Output: 'a'"), std::string::npos) << text;
  EXPECT_NE(text.find("Error made by 1 node(s): 'b' (MatMul)"), std::string::npos) << text;
  EXPECT_NE(text.find("Error inherited by 1 node(s): 'c' (Sigmoid)"), std::string::npos);
  EXPECT_NE(text.find("    FAILED | runner | "), std::string::npos) << text;
  EXPECT_NE(text.find(", 1 wrong, 1 inherited"), std::string::npos) << text;
}

/// A recurrence's errors are shown by noisy evaluations, which are made once for all runners whose inputs are
/// next to those of the exact network, and for each of the others.
TEST(Arbiter, NoiseOfTheExactNetworkStandsForRunnersNextToIt) {
  TestModel m;
  Value* x = m.input("x", {12, 1, 3});
  Value* h = m.node("Mul", "h", {x, m.constant("c", random_floats({3}, 4))});
  Value* y = m.graph.add_value("y");
  m.graph.add_node("RNN",
                   {h, m.constant("w", random_floats({1, 1, 3}, 1)),
                    m.constant("r", Tensor::from<float>({1, 1, 1}, std::vector<float>{0.7F}))},
                   {nullptr, y}, {{"hidden_size", int64_t{1}}}, "y");
  const std::shared_ptr<const Model> model = m.with_outputs({h, y});
  const std::vector<Tensor> feed = {random_floats({12, 1, 3}, 2)};
  const auto run_with = [&](float factor, float offset) {
    return results_of(*model, feed, [=](const std::string& name, Tensor& t) {
      if (name == "h")
        for (float& v : t.mutable_span<float>()) v *= factor;
      if (name == "y")
        for (float& v : t.mutable_span<float>()) v += offset;
    });
  };
  // 1 + 2^-11 is not next to it, but near enough for spreads that hardly differ.
  const StoredTensorList near = run_with(1, 2e-7F), apart = run_with(1 + 0x1p-11F, 2e-7F),
                         wrong = run_with(1, 1e-4F), far = run_with(2, 1e-4F);
  const std::vector<ArbiterCase> cases = {
      {"near", &near}, {"apart", &apart}, {"wrong", &wrong}, {"far", &far}};
  const Arbitration a = arbitrate(model, feed, cases);
  std::map<std::string, ArbiterVerdict> of;
  for (const ArbiterVerdict& v : a.outputs)
    if (v.output == "y") of[v.runner] = v;
  EXPECT_EQ(of["near"].verdict, Verdict::kRounding);
  EXPECT_EQ(of["wrong"].verdict, Verdict::kWrong);
  EXPECT_EQ(of["far"].verdict, Verdict::kWrong);
  EXPECT_GT(of["near"].worst_explained, 0);
  EXPECT_NEAR(of["apart"].worst_explained / of["near"].worst_explained, 1, 0.05);
  EXPECT_EQ(of["wrong"].worst_explained, of["near"].worst_explained);
  // Who stands beside whom says nothing.
  for (const ArbiterCase& c : cases) {
    const Arbitration alone = arbitrate(model, feed, std::span(&c, 1));
    EXPECT_EQ(alone.outputs.back().verdict, of[c.runner].verdict) << c.runner;
    EXPECT_EQ(alone.outputs.back().worst_explained, of[c.runner].worst_explained) << c.runner;
  }
}

}  // namespace
}  // namespace assay::arbiter_test
