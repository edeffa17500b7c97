// Facts against the operators' own evaluation: an operator with a fact that does not hold fails here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/pointwise/pointwise.h"
#include "ops/node_facts.h"
#include "ops/op_test_util.h"

namespace assay::op_facts_test {
namespace {

const std::vector<float>& samples() {
  static const std::vector<float> kNumbers = {-100,  -5.5F, -3, -2.5F, -1.75F, -1,   -0.75F, -0.5F,
                                              -0.2F, -0.0F, 0,  0.1F,  0.3F,   0.5F, 0.9F,   1,
                                              1.25F, 1.5F,  2,  2.5F,  3.5F,   4,    7.75F,  40};
  return kNumbers;
}

Tensor numbers() { return Tensor::vector<float>(samples()); }

const Schema& newest(const OpDef& op) { return schema_of(op.versions.back()); }

bool takes_floats(const OpDef& op) {
  const Parameter* in = newest(op).input(0);
  if (in == nullptr) return false;
  const std::vector<std::string> types = newest(op).allowed_types(*in);
  return std::find(types.begin(), types.end(), "float") != types.end() ||
         std::find(types.begin(), types.end(), "tensor(float)") != types.end();
}

/// The attributes that a node must have.
AttributeList attributes_of(const OpDef& op) {
  return op.name == "Cast" ? AttributeList{{"to", int64_t{1}}} : AttributeList{};
}

std::vector<double> run(const OpDef& op, std::vector<Tensor> inputs) {
  const int64_t opset = op.versions.back().since;
  const Tensor y = run_op(op.name, opset, std::move(inputs), attributes_of(op), 1, op.domain)[0];
  const Tensor wide = convert(y, DType::kFloat64);
  const auto elements = wide.span<double>();
  return {elements.begin(), elements.end()};
}

/// Calls f with every operator of float32 for which `holds` is true, and returns their number.
template <typename Holds, typename F>
size_t for_each_op(Holds holds, F f) {
  size_t count = 0;
  for (const OpDef* op : built_in_ops().all()) {
    if (!holds(op->facts) || op->versions.back().eval == nullptr || !takes_floats(*op)) continue;
    SCOPED_TRACE(std::string(op->domain) + "." + std::string(op->name));
    ++count;
    f(*op);
  }
  return count;
}

bool is_unary(const OpFacts& f) { return f.elementwise == 1 && !f.recodes; }
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(OpFacts, ElementwiseOperatorsComputeEachElementByItself) {
  const size_t count = for_each_op(is_unary, [](const OpDef& op) {
    const std::vector<double> together = run(op, {numbers()});
    ASSERT_EQ(together.size(), samples().size());
    for (size_t i = 0; i < samples().size(); ++i)
      EXPECT_TRUE(same(together[i], run(op, {Tensor::vector<float>({samples()[i]})})[0])) << samples()[i];
  });
  EXPECT_GE(count, 40U);
}

TEST(OpFacts, ElementwiseOperatorsOfTwoBroadcast) {
  const auto of_two = [](const OpFacts& f) { return f.elementwise == 2 && f.pointwise.op.has_value(); };
  const size_t count = for_each_op(of_two, [](const OpDef& op) {
    if (op.name == "Mod") return;  // of floats it needs another attribute
    const Tensor row = Tensor::from<float>({3}, {1, 2, 4}),
                 matrix = Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    const std::vector<double> both = run(op, {matrix, row});
    ASSERT_EQ(both.size(), 6U);
    for (size_t i = 0; i < 6; ++i)
      EXPECT_TRUE(same(both[i], run(op, {Tensor::vector<float>({static_cast<float>(i + 1)}),
                                         Tensor::vector<float>({std::array{1.0F, 2.0F, 4.0F}[i % 3]})})[0]));
  });
  EXPECT_GE(count, 10U);
}

TEST(OpFacts, InstructionsGiveWhatTheOperatorGives) {
  const size_t count = for_each_op(
      [](const OpFacts& f) { return is_unary(f) && f.pointwise.op; },
      [](const OpDef& op) {
        if (op.facts.pointwise.op == kernels::PointwiseOp::kClip) return;  // its bounds are inputs
        Model model;
        model.opsets = {{std::string(op.domain), op.versions.back().since}};
        Value* x = model.graph->add_input("x", Type::tensor(DType::kFloat32));
        const Node& n = *model.graph->add_node(std::string(op.name), {x}, {model.graph->add_value("y")}, {},
                                               {}, std::string(op.domain));
        const std::optional<PointwiseCode> code = pointwise_code(n, model);
        ASSERT_TRUE(code.has_value());
        const auto gives =
            kernels::pointwise_result(code->op, {DType::kFloat32, DType::kFloat32, DType::kFloat32});
        if (!gives) return;  // not of float32
        kernels::PointwiseProgram program(1);
        program.add_result(program.append(code->op, {0, -1, -1}, code->a, code->b));
        program.allocate_registers();
        const std::vector<double> wanted = run(op, {numbers()});
        const auto size = static_cast<int64_t>(samples().size());
        std::vector<float> got(samples().size());
        std::vector<uint8_t> truths(samples().size());
        const bool is_truth = *gives == DType::kBool;
        const DType type = is_truth ? DType::kBool : DType::kFloat32;
        const kernels::PointwiseLoop loop(program, Shape{size}, {{DType::kFloat32, {1}}}, {type});
        const void* const in[] = {samples().data()};
        void* const out[] = {is_truth ? static_cast<void*>(truths.data()) : got.data()};
        loop.run(in, out);
        for (size_t i = 0; i < samples().size(); ++i) {
          const double y = is_truth ? truths[i] : got[i];
          if (std::isnan(wanted[i])) {
            EXPECT_TRUE(std::isnan(y)) << samples()[i];
          } else if (std::abs(wanted[i]) > 3e38) {
            EXPECT_EQ(std::signbit(y), std::signbit(wanted[i])) << samples()[i];
          } else {
            EXPECT_NEAR(y, wanted[i], 2e-6 * std::max(1.0, std::abs(wanted[i]))) << samples()[i];
          }
        }
      });
  EXPECT_GE(count, 38U);
}

TEST(OpFacts, WhatIsIdempotentChangesNothingTheSecondTime) {
  const size_t count = for_each_op(
      [](const OpFacts& f) { return f.idempotent; },
      [](const OpDef& op) {
        const std::vector<double> once = run(op, {numbers()});
        const std::vector<double> twice = run(op, {Tensor::vector<float>({once.begin(), once.end()})});
        for (size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(same(once[i], twice[i])) << samples()[i];
      });
  EXPECT_EQ(count, 6U);
}

TEST(OpFacts, SignsOfResults) {
  const auto has_sign = [](const OpFacts& f) { return f.sign != SignOfResult::kAny; };
  for_each_op(has_sign, [](const OpDef& op) {
    for (const double y : run(op, {numbers()})) {
      EXPECT_FALSE(y < 0) << y;
      if (op.facts.sign == SignOfResult::kPositive) {
        EXPECT_FALSE(y == 0 && std::signbit(y));
      }
    }
  });
}

TEST(OpFacts, WholeNumbersAndSteps) {
  for_each_op([](const OpFacts& f) { return f.gives_whole; },
              [](const OpDef& op) {
                for (const double y : run(op, {numbers()})) EXPECT_EQ(y, std::trunc(y));
              });
  const size_t count =
      for_each_op([](const OpFacts& f) { return f.steps.any() && !f.recodes; },
                  [](const OpDef& op) {
                    for (const bool second : {false, true}) {
                      const int direction = second ? op.facts.steps.second : op.facts.steps.first;
                      if (direction == 0) continue;
                      const Tensor other = Tensor::vector<float>({0.5F});
                      const std::vector<double> y = op.facts.elementwise == 1 ? run(op, {numbers()})
                                                    : second                  ? run(op, {other, numbers()})
                                                                              : run(op, {numbers(), other});
                      for (size_t i = 1; i < y.size(); ++i)
                        EXPECT_GE(direction * y[i], direction * y[i - 1]) << samples()[i];
                    }
                  });
  EXPECT_EQ(count, 8U);
}

TEST(OpFacts, WhatCommutesDoes) {
  const auto commutes = [](const OpFacts& f) { return f.commutative; };
  const size_t count = for_each_op(commutes, [](const OpDef& op) {
    std::vector<float> turned(samples().rbegin(), samples().rend());
    const Tensor other = Tensor::vector<float>(turned);
    const std::vector<double> y = run(op, {numbers(), other}), z = run(op, {other, numbers()});
    for (size_t i = 0; i < y.size(); ++i) EXPECT_TRUE(same(y[i], z[i])) << i;
  });
  EXPECT_EQ(count, 7U);  // the others are of bools and integers
}

TEST(OpFacts, ViewsKeepTheOrder) {
  std::vector<std::string_view> found;
  for (const OpDef* op : built_in_ops().all())
    if (op->facts.is_view()) found.push_back(op->name);
  EXPECT_EQ(found.size(), 6U);
  const Tensor x = Tensor::from<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const auto list = [](int64_t i) { return Tensor::vector<int64_t>({i}); };
  for (const std::vector<double>& y :
       {run(*built_in_ops().find("", "Squeeze"), {x, list(0)}),
        run(*built_in_ops().find("", "Unsqueeze"), {x, list(0)}),
        run(*built_in_ops().find("", "Reshape"), {x, list(-1)}),
        run(*built_in_ops().find("", "Flatten"), {x}), run(*built_in_ops().find("", "Identity"), {x})})
    EXPECT_EQ(y, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

/// Facts that do not fit together are a mistake.
TEST(OpFacts, FitTogether) {
  for (const OpDef* op : built_in_ops().all()) {
    SCOPED_TRACE(op->name);
    const OpFacts& f = op->facts;
    if (f.pointwise.op) {
      const int arity = kernels::pointwise_arity(*f.pointwise.op);
      EXPECT_TRUE(f.elementwise == arity || (f.elementwise == kEveryInput && arity == 2));
    }
    for (const std::string_view name : f.pointwise.parameters)
      EXPECT_TRUE(name.empty() || newest(*op).attribute(name) != nullptr) << name;
    bool is_attribute = true;
    for (const std::string_view name : f.element_attributes)
      is_attribute =
          is_attribute && (name.empty() || std::ranges::any_of(op->versions, [&](const OpVersion& v) {
                             return schema_of(v).attribute(name) != nullptr;
                           }));
    EXPECT_TRUE(is_attribute);
    EXPECT_TRUE(f.moves == Moves::kNothing || f.sums == SumsFact::kNone);
    const int most = newest(*op).max_inputs();
    for (const InputUse& use : f.uses) EXPECT_TRUE(use.kind == InputUse::Kind::kNumbers || use.input < most);
    EXPECT_LT(f.size_input, most);
    EXPECT_LT(f.quantizing_scale, most);
  }
}

}  // namespace
}  // namespace assay::op_facts_test
