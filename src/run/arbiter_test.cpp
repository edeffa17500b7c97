#include "run/arbiter.h"

#include <cmath>

#include "base/log.h"
#include "reference/evaluate.h"
#include "reference/reference_test_util.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Origin = NodeFinding::Origin;

/// Every value of the model as a backend computes it that rounds after each node. `fault` may change a value.
using Fault = std::function<void(const std::string& name, Tensor& t)>;

StoredTensorList results_of(const Model& model, const std::vector<Tensor>& feed, const Fault& fault = {}) {
  std::unordered_map<const Value*, Tensor> values;
  for (size_t i = 0; i < feed.size(); ++i) values[model.graph->inputs[i]] = feed[i];
  StoredTensorList list;
  for (const auto& n : model.graph->nodes()) {
    std::vector<Tensor> inputs;
    for (const Value* v : n->inputs()) inputs.push_back(v->is_constant() ? v->tensor().aligned() : values.at(v));
    const std::vector<Tensor> outputs = evaluate_node(*n, require_op(*n, model), std::move(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      Tensor t = outputs[i];
      if (fault) fault(n->output(i)->name(), t);
      values[n->output(i)] = t;
      list.push_back({n->output(i)->name(), t});
    }
  }
  return list;
}

Arbitration judge(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                  const StoredTensorList& results) {
  const ArbiterCase c{"runner", &results};
  return arbitrate(model, feed, std::span(&c, 1));
}

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
    EXPECT_EQ(a.findings.size(), a.all_right() ? 0U : 1U);
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
  EXPECT_EQ(a.outputs[1].verdict, Verdict::kWrong);
  EXPECT_EQ(a.findings[0].origin, Origin::kInherited);
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
  ASSERT_EQ(a.findings.size(), 1U);
  EXPECT_EQ(a.findings[0].runner, "bad");
  EXPECT_FALSE(a.all_right());
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
  ASSERT_EQ(a.findings.size(), 2U);
  EXPECT_EQ(a.findings[0].node, "'b' (MatMul)");
  EXPECT_EQ(a.findings[0].origin, Origin::kMade);
  EXPECT_GT(a.findings[0].own_ratio, 100);
  EXPECT_TRUE(a.findings[0].proven);
  EXPECT_EQ(a.findings[1].node, "'c' (Sigmoid)");
  EXPECT_EQ(a.findings[1].origin, Origin::kInherited);
  EXPECT_LT(a.findings[1].own_ratio, 1);
}

TEST(Arbiter, ANodeOfWhatIsFedHasNobodyToInheritFrom) {
  const Chain chain;
  const StoredTensorList results =
      results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
        if (name == "a") spoil(t);
      });
  const Arbitration a = judge(chain.model, chain.feed, results);
  ASSERT_EQ(a.findings.size(), 4U);
  EXPECT_EQ(a.findings[0].origin, Origin::kMade);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(a.findings[i].origin, Origin::kInherited) << a.findings[i].node;
}

TEST(Arbiter, WithoutItsInputsTheOriginIsUnknown) {
  const Chain chain;
  StoredTensorList results = results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
    if (name == "b") spoil(t);
  });
  std::erase_if(results, [](const NamedStoredTensor& t) { return t.name != "c"; });
  const Arbitration a = judge(chain.model, chain.feed, results);
  ASSERT_EQ(a.findings.size(), 1U);
  EXPECT_EQ(a.findings[0].origin, Origin::kUnknown);
  EXPECT_EQ(a.findings[0].missing, "its input 'b' is not among the outputs");
}

TEST(Arbiter, OnlyWhatLeavesTheWorstCaseIsProven) {
  // 4096 terms: the worst case is more than ten times what is explained.
  const Product p(4096);
  const auto finding = [&](double error) {
    const auto value = static_cast<float>(p.exact.data<double>()[7] + error);
    const Arbitration a = judge(p.model, p.feed, {{"y", p.with(7, value)}});
    EXPECT_EQ(a.findings.size(), 1U) << error;
    EXPECT_EQ(a.findings[0].origin, Origin::kMade);
    return a.findings[0];
  };
  const double u = 0x1p-24, magnitude = 4096 * 0.25;
  EXPECT_FALSE(finding(400 * u * magnitude).proven);
  EXPECT_TRUE(finding(8192 * u * magnitude).proven);
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
  EXPECT_EQ(a.findings[0].origin, Origin::kMade);
  EXPECT_TRUE(a.findings[0].proven);
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
    EXPECT_FALSE(a.findings.empty());
    EXPECT_EQ(a.findings.back().output, "y");
    return a.findings.back().origin;
  };
  EXPECT_EQ(origin(1.01F, 1), Origin::kInherited);
  EXPECT_EQ(origin(1, 1.01F), Origin::kMade);
  EXPECT_EQ(origin(1.01F, 1.01F), Origin::kMade);
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
        sum_in_float +=
            feed[0].data<float>()[r * 16 + k] * model->graph->find_value("w")->tensor().aligned().data<float>()[k];
      std::fill_n(y.mutable_data<float>() + r * 64, 64, sum_in_float);
    }
    EXPECT_LT(judge(model, feed, {{"y", y}}).outputs[0].worst_ratio, 0.7) << seed;
  }
}

TEST(ArbiterReport, SaysWhoMadeIt) {
  const Chain chain;
  const StoredTensorList results =
      results_of(*chain.model, chain.feed, [](const std::string& name, Tensor& t) {
        if (name == "b") spoil(t);
      });
  log::Capture capture;
  report(judge(chain.model, chain.feed, results), {});
  const std::string text = capture.out() + capture.err();
  EXPECT_NE(text.find("First Divergence | runner | Node 'b' (MatMul) | Output: 'b'"), std::string::npos)
      << text;
  EXPECT_NE(text.find("(beyond the worst-case bound)"), std::string::npos) << text;
  EXPECT_NE(text.find("Error made by 1 node(s): 'b' (MatMul)"), std::string::npos) << text;
  EXPECT_NE(text.find("Error inherited by 1 node(s): 'c' (Sigmoid)"), std::string::npos);
  EXPECT_NE(text.find("    FAILED | runner | "), std::string::npos) << text;
  EXPECT_NE(text.find(", 2 wrong"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay
