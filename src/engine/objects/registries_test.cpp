// Runtimes with separate operators, passes and tactics in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "assay/builder.h"
#include "assay/io.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/tactic_set.h"
#include "ops/infer.h"
#include "ops/infer_util.h"
#include "ops/op_set.h"
#include "passes/pass_set.h"

namespace assay::registries_test {
namespace {

constexpr int64_t kElements = 1000;

/// mine.Twice: y = 2 x.
void twice(EvalContext& c) {
  Tensor y = c.input(0);
  double* data = y.mutable_data<double>();
  for (int64_t i = 0; i < y.numel(); ++i) data[i] *= 2;
  c.set_output(0, std::move(y));
}
constexpr OpVersion kVersions[] = {{1, "in X: T\nout Y: T\ntype T: float", infer_same_as_input, twice}};
constexpr OpDef kTwice{.domain = "mine", .name = "Twice", .versions = kVersions};

/// Its tactic, wrong on purpose: 3 x, so that a test sees what ran.
constexpr std::string_view kServed[] = {"mine.Twice"};
std::string propose(const engine::Problem& p, engine::Proposals& proposals) {
  engine::Candidate& c = proposals.add({}, engine::NumericsClass::kExact);
  c.add_input(p.node().input(0));
  c.add_output(p.node().output(0));
  return {};
}
class ThriceKernel final : public engine::Kernel {
 public:
  explicit ThriceKernel(int64_t n) : n_(n) {}
  engine::Status run(const engine::KernelArgs& args) noexcept override {
    for (int64_t i = 0; i < n_; ++i)
      static_cast<float*>(args.outputs[0])[i] = 3 * static_cast<const float*>(args.inputs[0])[i];
    return engine::Status::kOk;
  }

 private:
  int64_t n_;
};
std::unique_ptr<engine::Kernel> create(const engine::Plan& plan, const engine::Step& step) {
  const engine::StepReader r(plan, step, 1);
  return std::make_unique<ThriceKernel>(r.output(0, DType::kFloat32).shape.numel());
}
constexpr engine::TacticDef kThrice{
    .name = "thrice", .summary = "", .operators = kServed, .propose = propose, .factory = {.create = create}};

/// A pass that puts Neg in the place of Twice.
bool negate(Model& m) {
  for (const auto& n : m.graph->nodes())
    if (n->op_type == "Twice") {
      n->op_type = "Neg";
      n->domain.clear();
      return true;
    }
  return false;
}
constexpr PassDef kNegate{.name = "negate", .summary = "", .run = negate};

RuntimeOptions options(int threads) {
  auto ops = std::make_shared<OpSet>(built_in_ops());
  ops->add(kTwice);
  return {.threads = threads, .ops = std::move(ops)};
}

RuntimeOptions with_tactic(RuntimeOptions o) {
  auto tactics = std::make_shared<engine::TacticSet>(engine::built_in_tactics());
  tactics->add(kThrice);
  o.tactics = std::move(tactics);
  return o;
}

RuntimeOptions with_pass(RuntimeOptions o) {
  auto passes = std::make_shared<PassSet>(built_in_passes());
  passes->add(kNegate, PassStage::kCanonical);
  o.passes = std::move(passes);
  return o;
}

std::shared_ptr<Model> network(std::shared_ptr<const OpSet> ops) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}, {"mine", 1}};
  model->ops = std::move(ops);
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(kElements)}));
  Value* y = g.add_value("y");
  g.add_node("Twice", {x}, {y}, {}, "twice", "mine");
  g.outputs = {y};
  infer_shapes(*model);
  return model;
}

/// What becomes of a 1.
float factor(Engine& engine) {
  Tensor x = Tensor::zeros(DType::kFloat32, Shape{kElements});
  for (int64_t i = 0; i < kElements; ++i) x.mutable_data<float>()[i] = 1;
  const std::vector<Tensor> outputs =
      engine.create_execution_context()->infer(std::span<const Tensor>(&x, 1));
  const float* y = outputs[0].data<float>();
  for (int64_t i = 1; i < kElements; ++i) EXPECT_EQ(y[i], y[0]);
  return y[0];
}

std::shared_ptr<Engine> build(const Runtime& runtime, const RuntimeOptions& o) {
  return Builder(runtime).build_engine(network(o.ops), {.optimization_level = 0});
}

TEST(Registries, AnOperatorOfOnesOwnIsInferredAndEvaluated) {
  const RuntimeOptions o = options(1);
  const auto model = network(o.ops);
  EXPECT_EQ(model->graph->outputs[0]->type.str(), Type::tensor(DType::kFloat32, Dims{Dim(kElements)}).str());
  const Runtime runtime(o);
  EXPECT_EQ(factor(*build(runtime, o)), 2);
}

TEST(Registries, ATacticAndAPassOfOnesOwnAreUsed) {
  const RuntimeOptions tactic = with_tactic(options(1)), pass = with_pass(tactic);
  const Runtime with_one(tactic), with_both(pass);
  EXPECT_EQ(factor(*build(with_one, tactic)), 3);
  EXPECT_EQ(factor(*build(with_both, pass)), -1);
}

TEST(Registries, APlanNeedsWhatItWasBuiltWith) {
  const RuntimeOptions plain = options(1), tactic = with_tactic(plain);
  const Runtime evaluates(plain), computes(tactic), knows_nothing(RuntimeOptions{.threads = 1});
  const std::string evaluated = build(evaluates, plain)->serialize(),
                    computed = build(computes, tactic)->serialize();
  EXPECT_EQ(factor(*evaluates.deserialize_engine(evaluated)), 2);
  EXPECT_EQ(factor(*computes.deserialize_engine(evaluated)), 2);
  EXPECT_EQ(factor(*computes.deserialize_engine(computed)), 3);
  const auto message = [](const Runtime& runtime, const std::string& plan) {
    try {
      factor(*runtime.deserialize_engine(plan));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("it ran");
  };
  EXPECT_NE(message(evaluates, computed).find("no tactic named 'thrice'"), std::string::npos);
  EXPECT_NE(message(knows_nothing, evaluated).find("Twice"), std::string::npos)
      << message(knows_nothing, evaluated);
}

TEST(Registries, TwoRuntimesInFourThreads) {
  const RuntimeOptions first = options(1), second = with_tactic(options(2));
  const Runtime one(first), two(second);
  std::vector<std::thread> threads;
  std::vector<std::string> failures(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const bool is_first = t % 2 == 0;
      for (int i = 0; i < 10; ++i) {
        const float got = factor(*build(is_first ? one : two, is_first ? first : second));
        if (got != (is_first ? 2 : 3))
          failures[static_cast<size_t>(t)] = fmt::format("thread {} got {}", t, got);
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& f : failures) EXPECT_EQ(f, "");
}

/// Layers of products and sums that are large enough for the threads of a pool, and one operator of our own.
std::shared_ptr<Model> layers(const std::shared_ptr<const OpSet>& ops) {
  constexpr int64_t kWidth = 256;
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}, {"mine", 1}};
  model->ops = ops;
  Graph& g = *model->graph;
  Value* h = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(kWidth), Dim(kWidth)}));
  for (int i = 0; i < 3; ++i) {
    Tensor weight = Tensor::zeros(DType::kFloat32, Shape{kWidth, kWidth});
    for (int64_t k = 0; k < kWidth; ++k) weight.mutable_data<float>()[k * kWidth + (k + i) % kWidth] = 1;
    Value* w = g.add_constant(fmt::format("w{}", i), std::move(weight));
    Value *product = g.add_value(fmt::format("p{}", i)), *sum = g.add_value(fmt::format("s{}", i));
    g.add_node("MatMul", {h, w}, {product}, {}, fmt::format("product{}", i));
    g.add_node("Relu", {product}, {sum}, {}, fmt::format("relu{}", i));
    h = sum;
  }
  Value* y = g.add_value("y");
  g.add_node("Twice", {h}, {y}, {}, "twice", "mine");
  g.outputs = {y};
  infer_shapes(*model);
  return model;
}

/// What becomes of ones; 0 where the elements differ.
float factor_of(ExecutionContext& context) {
  Tensor x = Tensor::zeros(DType::kFloat32, Shape{256, 256});
  for (float& v : x.mutable_span<float>()) v = 1;
  const std::vector<Tensor> outputs = context.infer(std::span<const Tensor>(&x, 1));
  const std::span<const float> y = outputs[0].span<float>();
  return std::all_of(y.begin(), y.end(), [&](float v) { return v == y[0]; }) ? y[0] : 0;
}

// To be run with the preset `tsan`, too (CONTRIBUTING.md).
TEST(Registries, EnginesOfTwoRuntimesRunAndAreBuiltInFourThreads) {
  const RuntimeOptions first = options(2), second = with_tactic(options(3));
  const Runtime one(first), two(second);
  const std::shared_ptr<Engine> shared_one =
                                    Builder(one).build_engine(layers(first.ops), {.optimization_level = 0}),
                                shared_two =
                                    Builder(two).build_engine(layers(second.ops), {.optimization_level = 0});
  std::vector<std::thread> threads;
  std::vector<std::string> failures(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const bool is_first = t % 2 == 0;
      const float expected = is_first ? 2 : 3;
      const auto check = [&](float got) {
        if (got != expected) failures[static_cast<size_t>(t)] = fmt::format("thread {} got {}", t, got);
      };
      // An engine that another thread runs, too, and one of its own, built meanwhile.
      const auto context = (is_first ? shared_one : shared_two)->create_execution_context();
      for (int i = 0; i < 5; ++i) check(factor_of(*context));
      const std::shared_ptr<Engine> own =
          Builder(is_first ? one : two)
              .build_engine(layers(is_first ? first.ops : second.ops), {.optimization_level = 0});
      check(factor_of(*own->create_execution_context()));
      const std::shared_ptr<Engine> loaded = (is_first ? one : two).deserialize_engine(own->serialize());
      check(factor_of(*loaded->create_execution_context()));
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& f : failures) EXPECT_EQ(f, "");
}

}  // namespace
}  // namespace assay::registries_test
