// Tests one tactic on the smallest networks for which it is proposed: its results, its refusals, and its
// checks of forged steps in plans.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "engine/tactics/tactic_set.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "ops/node_facts.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::engine {

/// A constant of a network's text: float32 numbers between -1 and 1, in a fixed order.
inline std::string floats(const std::string& name, const Shape& shape) {
  std::string list, dims;
  for (int64_t i = 0; i < shape.numel(); ++i)
    list += fmt::format("{}{:.3f}", i == 0 ? "" : ", ", static_cast<double>((i * 37 + 11) % 101) / 50 - 1);
  for (const int64_t d : shape.dims()) dims += (dims.empty() ? "" : ",") + std::to_string(d);
  return fmt::format("float[{}] {} = {{{}}}", dims, name, list);
}
/// The same of small integers of this type.
inline std::string integers(const std::string& type, const std::string& name, const Shape& shape,
                            int64_t modulus = 23, int64_t least = -11) {
  std::string list, dims;
  for (int64_t i = 0; i < shape.numel(); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : ", ", (i * 7 + 3) % modulus + least);
  for (const int64_t d : shape.dims()) dims += (dims.empty() ? "" : ",") + std::to_string(d);
  return fmt::format("{}[{}] {} = {{{}}}", type, dims, name, list);
}

/// A network in ONNX's text form.
struct NetworkText {
  std::string interface;  ///< "(float[3,4] x) => (float[3,4] y)"
  std::string nodes;      ///< "y = Softmax (x)"
  std::string constants = {};
  int opset = 18;

  std::shared_ptr<Model> model() const {
    const std::string constants_list = constants.empty() ? "" : "<" + constants + ">";
    std::shared_ptr<Model> m = parse_text(
        fmt::format("<ir_version: 10, opset_import: [\"\" : {}, \"ai.onnx.ml\" : 3, \"com.microsoft\" : 1]> "
                    "g {} {} {{ {} }}",
                    opset, interface, constants_list, nodes),
        "network");
    int count = 0;
    for (const auto& n : m->graph->nodes()) n->name = fmt::format("{}_{}", n->op_type, count++);
    infer_shapes(*m);
    return m;
  }
};

class TacticTest {
 public:
  /// Nodes of operators that the tactic names must run on it.
  TacticTest(std::string tactic, NetworkText network)
      : tactic_(std::move(tactic)), model_(network.model()), config_{.optimization_level = 0} {}

  BuilderConfig& config() { return config_; }
  /// Tolerance of results, relative to the largest of the reference's.
  void set_tolerance(double part) { tolerance_ = part; }
  /// Feeds this as input `i`, in place of numbers by its type.
  void set_input(size_t i, Tensor t) { given_[i] = std::move(t); }

  /// Expects a plan with a step of it, of this variant if named, and the reference's results; twice, so that
  /// the second run overwrites memory left by the first.
  void expect_agreement(const std::string& variant = {}) {
    SCOPED_TRACE(tactic_ + " " + variant);
    const std::shared_ptr<Engine> engine = build(variant);
    const Step* step = find(*engine->state().saved.plans.at(0).plan);
    ASSERT_NE(step, nullptr) << "the plan has no step of it";
    EXPECT_TRUE(variant.empty() || step->variant == variant) << step->variant;
    const std::vector<Tensor> feed = inputs(), wanted = reference(feed);
    const auto context = engine->create_execution_context();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::vector<Tensor> got = context->infer(feed);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], wanted[i], i);
    }
  }

  /// Expects no candidate for the network, for this reason.
  void expect_refusal(const std::string& reason) {
    SCOPED_TRACE(tactic_);
    const Builder builder(runtime_);
    builder.build_engine(model_, config_);
    const std::string& all = builder.explanation();
    std::string own;
    for (size_t at = all.find("not " + tactic_); at != std::string::npos;
         at = all.find("not " + tactic_, at + 1))
      own += all.substr(at, all.find('\n', at) - at) + "\n";
    EXPECT_NE(own.find(reason), std::string::npos) << (own.empty() ? all : own);
  }

  /// Expects that a plan with a forged step of it is refused, when it is read or when it runs.
  template <typename Forge>
  void expect_refused(const Forge& forge, const std::string& sentence) {
    const std::string said = forged(forge);
    EXPECT_NE(said.find(sentence), std::string::npos) << tactic_ << ": " << said;
  }
  template <typename Forge>
  void expect_runs(const Forge& forge) {
    EXPECT_EQ(forged(forge), "it runs") << tactic_;
  }

 private:
  const Step* find(const Plan& plan) const {
    const auto step = std::ranges::find(plan.steps, tactic_, &Step::tactic);
    return step == plan.steps.end() ? nullptr : &*step;
  }

  std::shared_ptr<Engine> build(const std::string& variant) const {
    BuilderConfig config = config_;
    const TacticDef* def = built_in_tactics().find(tactic_);
    for (const auto& n : model_->graph->nodes()) {
      const std::string op = n->domain.empty() ? n->op_type : n->domain + "." + n->op_type;
      const bool serves = def->serves != nullptr && def->serves(facts_of(*n, *model_));
      if (serves || std::ranges::find(def->operators, op) != def->operators.end())
        config.pinned_tactics[n->name] = variant.empty() ? tactic_ : tactic_ + ":" + variant;
    }
    return Builder(runtime_).build_engine(model_, config);
  }

  std::vector<Tensor> inputs() const {
    std::vector<Tensor> all;
    for (size_t i = 0; i < model_->graph->inputs.size(); ++i) {
      if (const auto it = given_.find(i); it != given_.end()) {
        all.push_back(it->second);
        continue;
      }
      const Type& type = model_->graph->inputs[i]->type;
      std::mt19937 random(static_cast<unsigned>(i + 5));
      Tensor t = Tensor::allocate(DType::kFloat64, *known_shape(*type.dims));
      std::uniform_real_distribution<double> uniform(-1, 1);
      const int64_t modulus = type.dtype == DType::kBool ? 2 : bit_width(type.dtype) == 8 ? 100 : 3;
      const bool is_real = is_float(type.dtype);
      for (int64_t k = 0; k < t.numel(); ++k)
        t.mutable_data<double>()[k] = is_real ? uniform(random) : static_cast<double>(k * 7 % modulus);
      all.push_back(convert(t, type.dtype));
    }
    return all;
  }

  std::vector<Tensor> reference(std::span<const Tensor> feed) const {
    std::vector<Tensor> y(model_->graph->outputs.size());
    Interpreter(model_, {}).run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < y.size(); ++i)
        if (model_->graph->outputs[i] == &v) y[i] = lanes[0];
    });
    return y;
  }

  void expect_near(const Tensor& got, const Tensor& wanted, size_t output) const {
    ASSERT_EQ(got.shape(), wanted.shape());
    const Tensor a = convert(got, DType::kFloat64), b = convert(wanted, DType::kFloat64);
    double top = 1e-3;
    for (const double x : b.span<double>()) top = std::max(top, std::isfinite(x) ? std::abs(x) : 0);
    for (int64_t i = 0; i < a.numel(); ++i) {
      const double x = a.data<double>()[i], y = b.data<double>()[i];
      const bool same =
          std::isfinite(y) ? std::abs(x - y) <= tolerance_ * top : x == y || (std::isnan(x) && std::isnan(y));
      ASSERT_TRUE(same) << "output " << output << " at " << i << ": " << x << ", not " << y;
    }
  }

  template <typename Forge>
  std::string forged(const Forge& forge) const {
    SavedEngine saved = build({})->state().saved;
    const auto plan = std::make_shared<Plan>(*saved.plans.at(0).plan);
    const Step* step = find(*plan);
    if (step == nullptr) return "no step of it";
    EXPECT_EQ(run(saved), "it runs");
    forge(*plan, plan->steps[static_cast<size_t>(step - plan->steps.data())]);
    saved.plans[0].plan = plan;
    return run(saved);
  }

  std::string run(const SavedEngine& saved) const {
    try {
      runtime_.deserialize_engine(serialize_engine(saved))->create_execution_context()->infer(inputs());
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      return error.what();
    }
    return "it runs";
  }

  std::string tactic_;
  std::shared_ptr<Model> model_;
  BuilderConfig config_;
  double tolerance_ = 1e-5;
  std::map<size_t, Tensor> given_;
  Runtime runtime_{{.threads = 2}};
};

/// The same for a network that is only refused.
inline void expect_refusal(const std::string& tactic, NetworkText network, const std::string& reason) {
  TacticTest(tactic, std::move(network)).expect_refusal(reason);
}

// Forgeries.

/// A parameter, or number `i` of a list.
inline auto set(std::string name, Parameter value) {
  return [=](Plan&, Step& s) { s.parameters.set(name, value); };
}
inline auto set_in(std::string name, size_t i, int64_t number) {
  return [=](Plan&, Step& s) {
    std::vector<int64_t> list = s.parameters.numbers(name);
    list.at(i) = number;
    s.parameters.set(name, list);
  };
}
inline auto set_scratch(int64_t bytes) {
  return [=](Plan&, Step& s) { s.scratch_bytes = bytes; };
}
inline auto leave_out(size_t input) {
  return [=](Plan&, Step& s) { s.inputs.at(input) = -1; };
}
inline auto set_output_shape(Shape shape) {
  return [=](Plan& p, Step& s) { p.values[static_cast<size_t>(s.outputs[0])].shape = shape; };
}

}  // namespace assay::engine
