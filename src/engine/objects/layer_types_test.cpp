// Requested types of layers are honored: in the plan, and in results.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "analysis/held_types.h"
#include "assay/builder.h"
#include "engine/objects/state.h"
#include "ops/infer.h"

namespace assay::layer_types_test {
namespace {

constexpr DType kF32 = DType::kFloat32, kF16 = DType::kFloat16, kBf16 = DType::kBFloat16, kI8 = DType::kInt8;

/// Layers side by side, each with an input `NAME/x` and an output `NAME/y` of its own.
class Layers {
 public:
  Layers() {
    model->opsets = {{"", 18}};
    add("conv", "Conv", {3, 8, 10, 10}, {weight({16, 8, 3, 3}), weight({16})});
    add("conv_1x1", "Conv", {1, 16, 8, 8}, {weight({32, 16, 1, 1})});
    add("depthwise", "Conv", {1, 8, 9, 9}, {weight({8, 1, 3, 3})}, {{"group", int64_t{8}}});
    add("gemm", "Gemm", {70, 48}, {weight({48, 64}), weight({64})});
    add("gemv", "Gemm", {1, 256}, {weight({256, 64})});
    add("matmul", "MatMul", {2, 40, 64}, {weight({64, 80})});
    add("relu", "Relu", {2, 300}, {});
    add("add", "Add", {2, 300}, {weight({300})});
    add("softmax", "Softmax", {4, 50}, {});
    add("norm", "LayerNormalization", {4, 64}, {weight({64}), weight({64})});
    add("lstm", "LSTM", {5, 1, 16}, {weight({1, 64, 16}), weight({1, 64, 16})},
        {{"hidden_size", int64_t{16}}});
    add("transpose", "Transpose", {4, 6}, {});
    add_scores();
    infer_shapes(*model);
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  std::vector<Tensor> feed;

 private:
  Tensor random(const Shape& shape) {
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : t.mutable_span<float>()) x = uniform(numbers_);
    return t;
  }
  Value* weight(const Shape& shape) { return g.add_constant(g.unique_name("w"), random(shape)); }
  Value* input(const std::string& name, const Shape& shape) {
    feed.push_back(random(shape));
    return g.add_input(name + "/x", Type::tensor(kF32, Dims(shape.begin(), shape.end())));
  }
  Value* node(const std::string& name, const char* op, std::vector<Value*> inputs,
              AttributeList attributes = {}) {
    Value* y = g.add_value(name + "/y");
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), name);
    return y;
  }
  void add(const std::string& name, const char* op, const Shape& shape, std::vector<Value*> others,
           AttributeList attributes = {}) {
    std::vector<Value*> inputs = {input(name, shape)};
    inputs.insert(inputs.end(), others.begin(), others.end());
    g.outputs.push_back(node(name, op, std::move(inputs), std::move(attributes)));
  }
  /// Attention's parts.
  void add_scores() {
    Value *q = input("scores", {1, 2, 12, 16}), *k = input("keys", {1, 2, 16, 12}),
          *v = input("values", {1, 2, 12, 16});
    Value* p = node("attention_softmax", "Softmax", {node("scores", "MatMul", {q, k})});
    g.outputs.push_back(node("attended", "MatMul", {p, v}));
  }

  Graph& g = *model->graph;
  std::mt19937 numbers_{7};
};

/// DequantizeLinear, Conv, Relu, QuantizeLinear; and weights alone in 8 bits before a MatMul.
std::shared_ptr<Model> quantized_network() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}};
  Graph& g = *model->graph;
  const auto tensor = [&](const std::string& name) { return g.add_value(name); };
  Value* s = g.add_constant("s", Tensor::scalar<float>(0.02F));
  Value* z = g.add_constant("z", Tensor::zeros(kI8, Shape{}));
  const auto levels = [&](const std::string& name, const Shape& shape) {
    Tensor t = Tensor::allocate(kI8, shape);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.mutable_data<int8_t>()[i] = static_cast<int8_t>((i * 37 + 11) % 200 - 100);
    Value* v = tensor(name + "/dequantized");
    g.add_node("DequantizeLinear", {g.add_constant(name, t), s, z}, {v}, {}, name + "/dq");
    return v;
  };
  const auto quantized = [&](const std::string& name, Value* v) {
    Value *q = tensor(name + "/q"), *d = tensor(name + "/d");
    g.add_node("QuantizeLinear", {v, s, z}, {q}, {}, name + "/quantize");
    g.add_node("DequantizeLinear", {q, s, z}, {d}, {}, name + "/dequantize");
    return d;
  };
  Value* x = g.add_input("x", Type::tensor(kF32, Dims{Dim(1), Dim(8), Dim(6), Dim(6)}));
  Value *c = tensor("c"), *r = tensor("r"), *m = tensor("m"), *y = tensor("y");
  g.add_node("Conv", {quantized("x", x), levels("w", {16, 8, 3, 3})}, {c}, {}, "conv");
  g.add_node("Relu", {c}, {r}, {}, "relu");
  g.add_node("MaxPool", {quantized("r", r)}, {m}, {{"kernel_shape", std::vector<int64_t>{2, 2}}}, "pool");
  g.add_node("Identity", {quantized("m", m)}, {y}, {}, "copy");
  Value *a = g.add_input("a", Type::tensor(kF32, Dims{Dim(3), Dim(32)})), *b = tensor("b");
  g.add_node("MatMul", {a, levels("weights", {32, 48})}, {b}, {}, "product");
  g.outputs = {y, b};
  infer_shapes(*model);
  return model;
}

class Calibrated final : public Int8Calibrator {
 public:
  explicit Calibrated(const std::vector<Tensor>& feed) : feed_(feed) {}
  CalibrationAlgorithm algorithm() const override { return CalibrationAlgorithm::kMinMax; }
  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    if (std::exchange(is_done_, true)) return std::nullopt;
    TensorList batch;
    for (size_t i = 0; i < inputs.size(); ++i) batch.push_back({inputs[i].name, feed_[i]});
    return batch;
  }

 private:
  const std::vector<Tensor>& feed_;
  bool is_done_ = false;
};

class LayerTypesTest : public testing::Test {
 protected:
  using Wishes = std::vector<LayerTypes>;

  std::shared_ptr<Engine> build(const std::shared_ptr<Model>& model, BuilderConfig config, Wishes wishes,
                                PrecisionConstraints constraints = PrecisionConstraints::kObey) {
    config.optimization_level = 0;
    config.layer_types = std::move(wishes);
    config.precision_constraints = constraints;
    if (config.int8 && config.calibrator == nullptr)
      config.calibrator = std::make_shared<Calibrated>(layers.feed);
    const Builder builder(runtime);
    auto engine = builder.build_engine(model, config);
    summary = builder.type_summary();
    return engine;
  }
  std::string refusal(const std::shared_ptr<Model>& model, const BuilderConfig& config, Wishes wishes) {
    try {
      build(model, config, std::move(wishes));
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  static const std::vector<engine::Step>& steps(const Engine& engine) {
    return engine.state().saved.plans.front().plan->steps;
  }
  /// What the steps that stand for a layer compute in, casts and reorders left out.
  static std::set<DType> types_of(const Engine& engine, const std::string& name) {
    std::set<DType> types;
    for (const engine::Step& s : steps(engine))
      if (std::find(s.origins.begin(), s.origins.end(), name) != s.origins.end() &&
          s.computes != DType::kUndefined && s.why.starts_with("held"))
        types.insert(s.computes);
    return types;
  }
  std::vector<Tensor> run(const Engine& engine) {
    return const_cast<Engine&>(engine).create_execution_context()->infer(layers.feed);
  }
  static Tensor output(const std::vector<Tensor>& all, const Layers& layers, const std::string& name) {
    const auto& outputs = layers.model->graph->outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]->name() == name + "/y") return all[i];
    return {};
  }

  std::vector<std::string> warnings;
  Runtime runtime{{.threads = 1, .on_warning = [this](const std::string& w) { warnings.push_back(w); }}};
  Layers layers;
  std::string summary;
};

const char* const kNames[] = {
    "conv", "conv_1x1",  "depthwise",         "gemm",    "gemv", "matmul", "relu", "add", "softmax", "norm",
    "lstm", "transpose", "attention_softmax", "attended"};

/// float32 in builds that may use everything else: by name, by pattern, by operator, all.
TEST_F(LayerTypesTest, LayersStayInFloat32) {
  const std::vector<Tensor> plain = run(*build(layers.model, {}, {}));
  const BuilderConfig builds[] = {{.fp16 = true},
                                  {.bf16 = true},
                                  {.fp16 = true, .bf16 = true},
                                  {.int8 = true},
                                  {.fp16 = true, .int8 = true}};
  for (const BuilderConfig& config : builds)
    for (const std::string name : kNames) {
      SCOPED_TRACE(fmt::format("{} {} {} {}", name, config.fp16, config.bf16, config.int8));
      const auto engine = build(layers.model, config, {{.layers = name, .precision = kF32}});
      if (name != "transpose") {
        EXPECT_EQ(types_of(*engine, name), std::set<DType>{kF32});
      }
      // What it reads is the same as in the plain build, unless another layer gives it.
      if (const Tensor y = output(run(*engine), layers, name); y.defined() && name != "attended") {
        EXPECT_TRUE(y.identical(output(plain, layers, name)));
      }
    }
  for (const char* all : {"*", "re:.*"}) {
    const auto engine =
        build(layers.model, {.fp16 = true, .bf16 = true, .int8 = true}, {{.layers = all, .precision = kF32}});
    const std::vector<Tensor> y = run(*engine);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_TRUE(y[i].identical(plain[i])) << all << i;
  }
  const auto engine = build(layers.model, {.fp16 = true}, {{.layers = "op:Gemm", .precision = kF32}});
  for (const char* name : {"gemm", "gemv"}) EXPECT_EQ(types_of(*engine, name), std::set<DType>{kF32});
}

TEST_F(LayerTypesTest, LayersAreComputedInSixteenBits) {
  const std::vector<Tensor> plain = run(*build(layers.model, {}, {}));
  for (const DType wanted : {kF16, kBf16})
    for (const auto constraints : {PrecisionConstraints::kObey, PrecisionConstraints::kPrefer})
      for (const std::string name : kNames) {
        SCOPED_TRACE(fmt::format("{} {}", name, dtype_name(wanted)));
        const auto engine =
            build(layers.model, {.fp16 = true, .bf16 = true},
                  {{.layers = "*", .precision = kF32}, {.layers = name, .precision = wanted}}, constraints);
        if (name == "transpose") continue;  // it computes nothing
        EXPECT_EQ(types_of(*engine, name), std::set<DType>{wanted});
        const std::vector<Tensor> all = run(*engine);
        const Tensor y = output(all, layers, name);
        if (!y.defined()) continue;
        EXPECT_FALSE(y.identical(output(plain, layers, name)));
        const Tensor f = output(plain, layers, name);
        double top = 1;
        for (const float v : f.span<float>()) top = std::max(top, std::abs(double{v}));
        for (int64_t i = 0; i < y.numel(); ++i)
          ASSERT_NEAR(y.data<float>()[i], f.data<float>()[i], (wanted == kF16 ? 0x1p-9 : 0x1p-6) * top);
        // Nothing else has changed.
        if (name != "attention_softmax" && name != "attended") {
          EXPECT_TRUE(output(all, layers, "softmax").identical(output(plain, layers, "softmax")) ||
                      name == "softmax");
        }
      }
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

TEST_F(LayerTypesTest, LayersAreComputedInIntegers) {
  for (const char* name : {"conv", "conv_1x1", "depthwise", "gemm", "gemv", "matmul"}) {
    SCOPED_TRACE(name);
    const auto engine = build(layers.model, {.int8 = true}, {{.layers = name, .precision = kI8}});
    EXPECT_EQ(types_of(*engine, name), std::set<DType>{kI8});
  }
  const std::string several =
      refusal(layers.model, {.int8 = true},
              {{.layers = "softmax", .precision = kI8}, {.layers = "lstm", .precision = kI8}});
  EXPECT_NE(several.find("layer 'softmax' in int8"), std::string::npos) << several;
  EXPECT_NE(several.find("layer 'lstm' in int8"), std::string::npos) << several;
  build(layers.model, {.int8 = true}, {{.layers = "norm", .precision = kI8}}, PrecisionConstraints::kPrefer);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("layer 'norm' in int8"), std::string::npos) << warnings[0];
}

/// Every kind of selector with every type and both kinds of constraints: what is named is held in the type,
/// in the saved plan, too, and nothing else is held.
TEST_F(LayerTypesTest, EverySelectorHoldsItsLayers) {
  struct Selector {
    const char* spec;
    std::vector<std::string> names;
  };
  const Selector selectors[] = {{"conv_1x1", {"conv_1x1"}},
                                {"gem?", {"gemm", "gemv"}},
                                {"conv*", {"conv", "conv_1x1"}},
                                {"re:(depthwise|mat.*)", {"depthwise", "matmul"}},
                                {"op:Conv", {"conv", "conv_1x1", "depthwise"}}};
  const BuilderConfig everything{.fp16 = true, .bf16 = true, .int8 = true};
  for (const auto& [spec, names] : selectors)
    for (const DType wanted : {kF32, kF16, kBf16, kI8})
      for (const auto constraints : {PrecisionConstraints::kObey, PrecisionConstraints::kPrefer}) {
        SCOPED_TRACE(fmt::format("{} {} {}", spec, dtype_name(wanted), static_cast<int>(constraints)));
        const auto built =
            build(layers.model, everything, {{.layers = spec, .precision = wanted}}, constraints);
        const auto saved = runtime.deserialize_engine(built->serialize());
        for (const char* name : kNames) {
          const bool is_named = std::find(names.begin(), names.end(), name) != names.end();
          EXPECT_EQ(types_of(*saved, name), is_named ? std::set<DType>{wanted} : std::set<DType>()) << name;
        }
      }
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

TEST_F(LayerTypesTest, QuantizedNeighbours) {
  const auto model = quantized_network();
  const auto in = [&](const Wishes& wishes, const char* name) {
    return types_of(*build(model, {}, wishes), name);
  };
  EXPECT_EQ(in({{.layers = "conv", .precision = kI8}}, "conv"), std::set<DType>{kI8});
  EXPECT_EQ(in({{.layers = "conv", .precision = kF32}}, "conv"), std::set<DType>{kF32});
  EXPECT_EQ(in({{.layers = "op:Conv", .precision = kF32}}, "conv"), std::set<DType>{kF32});
  EXPECT_EQ(in({{.layers = "relu", .precision = kF32}}, "relu"), std::set<DType>{kF32});
  EXPECT_EQ(in({{.layers = "pool", .precision = kF32}}, "pool"), std::set<DType>{kF32});
  EXPECT_EQ(in({{.layers = "product", .precision = kF32}}, "product"), std::set<DType>{kF32});
  const auto held = build(model, {.fp16 = true}, {{.layers = "*", .precision = kF32}});
  for (const engine::Step& s : steps(*held))
    EXPECT_TRUE(s.computes != kI8 && s.computes != kF16) << engine::step_name(s);
  const std::string reason = refusal(model, {}, {{.layers = "product", .precision = kI8}});
  EXPECT_NE(reason.find("layer 'product' in int8: the input does not come from a DequantizeLinear"),
            std::string::npos)
      << reason;
}

TEST_F(LayerTypesTest, OutputsAreStored) {
  const auto engine =
      build(layers.model, {.fp16 = true, .bf16 = true},
            {{.layers = "relu", .outputs = {kF16}}, {.layers = "scores", .outputs = {kBf16}}});
  const engine::Plan& plan = *engine->state().saved.plans.front().plan;
  const auto has = [&](const std::string& name, DType dtype) {
    return std::any_of(plan.values.begin(), plan.values.end(),
                       [&](const engine::PlanValue& v) { return v.name == name && v.dtype == dtype; });
  };
  EXPECT_TRUE(has("relu/y/float16", kF16));
  EXPECT_TRUE(has("scores/y/bfloat16", kBf16));
  const Tensor y = output(run(*engine), layers, "relu");
  const Tensor x = layers.feed[6];
  ASSERT_EQ(x.numel(), y.numel());
  bool any = false;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float exact = std::max(x.data<float>()[i], 0.0F);
    EXPECT_NEAR(y.data<float>()[i], exact, 0x1p-11);
    any = any || y.data<float>()[i] != exact;
  }
  EXPECT_TRUE(any);
}

TEST_F(LayerTypesTest, ContradictionsNameTheLayers) {
  EXPECT_NE(refusal(layers.model, {.fp16 = true},
                    {{.layers = "conv", .precision = kF32}, {.layers = "conv", .precision = kF16}})
                .find("layer 'conv' is asked for in float32 and in float16"),
            std::string::npos);
  EXPECT_NE(refusal(layers.model, {}, {{.layers = "gemm", .precision = kF16}})
                .find("layer 'gemm' in float16: float16 is not allowed to the builder (fp16)"),
            std::string::npos);
  EXPECT_NE(refusal(layers.model, {}, {{.layers = "gem", .precision = kF32}}).find("gemm"),
            std::string::npos);
  EXPECT_NE(refusal(layers.model, {}, {{.layers = "gemm", .precision = DType::kInt64}}).find("not in int64"),
            std::string::npos);
  EXPECT_NE(refusal(layers.model, {.fp16 = true}, {{.layers = "relu", .outputs = {kF16, kF32}}})
                .find("2 output types are given for layer 'relu'"),
            std::string::npos);
  // Of equals the later one, and a name before a pattern.
  const auto engine = build(layers.model, {.fp16 = true},
                            {{.layers = "gemm", .precision = kF32}, {.layers = "gem*", .precision = kF16}});
  EXPECT_EQ(types_of(*engine, "gemm"), std::set<DType>{kF32});
  EXPECT_EQ(types_of(*engine, "gemv"), std::set<DType>{kF16});
}

TEST_F(LayerTypesTest, NothingIsFollowedWithoutConstraints) {
  const auto engine = build(layers.model, {.fp16 = true}, {{.layers = "gemv", .precision = kF32}},
                            PrecisionConstraints::kNone);
  EXPECT_TRUE(types_of(*engine, "gemv").empty());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("`none`"), std::string::npos);
}

/// y = BatchNormalization(Conv(x)) and two equal products, which passes make one.
TEST_F(LayerTypesTest, HeldNodesThatPassesMerge) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(kF32, Dims{Dim(1), Dim(4), Dim(8), Dim(8)}));
  const auto some = [&](const Shape& shape, float from) {
    Tensor t = Tensor::allocate(kF32, shape);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.mutable_data<float>()[i] = from + 0.013F * static_cast<float>(i % 31);
    return g.add_constant(g.unique_name("w"), t);
  };
  Value *c = g.add_value("c"), *b = g.add_value("b"), *p = g.add_value("p"), *q = g.add_value("q"),
        *y = g.add_value("y");
  g.add_node("Conv", {x, some({8, 4, 3, 3}, -0.1F)}, {c}, {}, "conv");
  g.add_node("BatchNormalization", {c, some({8}, 1), some({8}, 0), some({8}, 0), some({8}, 1)}, {b}, {},
             "bn");
  Value* w = some({6, 10}, 0.1F);
  g.add_node("MatMul", {b, w}, {p}, {}, "p");
  g.add_node("MatMul", {b, w}, {q}, {}, "q");
  g.add_node("Add", {p, q}, {y}, {}, "sum");
  g.outputs = {y};
  infer_shapes(*model);
  // Along with the other one.
  auto engine =
      build(model, {.fp16 = true}, {{.layers = "bn", .precision = kF32}, {.layers = "q", .precision = kF32}});
  EXPECT_EQ(types_of(*engine, "conv"), std::set<DType>{kF32});
  EXPECT_EQ(types_of(*engine, "p"), std::set<DType>{kF32});
  // Apart.
  engine = build(model, {.fp16 = true},
                 {{.layers = "conv", .precision = kF16},
                  {.layers = "bn", .precision = kF32},
                  {.layers = "p", .precision = kF16},
                  {.layers = "q", .precision = kF32}});
  EXPECT_EQ(types_of(*engine, "conv"), std::set<DType>{kF16});
  EXPECT_EQ(types_of(*engine, "bn"), std::set<DType>{kF32});
  EXPECT_EQ(types_of(*engine, "p"), std::set<DType>{kF16});
  EXPECT_EQ(types_of(*engine, "q"), std::set<DType>{kF32});
}

TEST_F(LayerTypesTest, WhatTheNetworkSaysOfItsNodes) {
  for (const auto& n : layers.model->graph->nodes())
    if (n->name == "gemv") set_held_type(*n, "float32");
  const auto engine = build(layers.model, {.fp16 = true}, {});
  EXPECT_EQ(types_of(*engine, "gemv"), std::set<DType>{kF32});
  EXPECT_NE(summary.find("held in float32"), std::string::npos) << summary;
}

/// Products that narrower types were allowed for, and why they stay in float32; saved with the plan.
TEST_F(LayerTypesTest, NearMisses) {
  const auto misses = [&](const BuilderConfig& config, Wishes wishes = {}) {
    const auto engine = build(layers.model, config, std::move(wishes));
    const std::vector<engine::NearMiss> saved =
        runtime.deserialize_engine(engine->serialize())->state().saved.near_misses;
    EXPECT_TRUE(saved == engine->state().saved.near_misses);
    return saved;
  };
  EXPECT_TRUE(misses({}).empty());
  for (const BuilderConfig& config : {BuilderConfig{.fp16 = true}, BuilderConfig{.int8 = true}}) {
    const std::vector<engine::NearMiss> all = misses(config);
    // Attention's parts have the same work; recurrent layers have more.
    const auto it = std::find_if(all.begin(), all.end(), [](const engine::NearMiss& m) {
      return m.layer.find("scores") != std::string::npos;
    });
    ASSERT_NE(it, all.end());
    EXPECT_GE(it->multiply_adds, 2 * 12 * 16 * 12);
    EXPECT_FALSE(it->reason.empty());
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.multiply_adds > b.multiply_adds;
    }));
    for (const engine::NearMiss& m : all) EXPECT_NE(m.layer, "gemv");
  }
  const std::vector<engine::NearMiss> kept =
      misses({.int8 = true, .float_nodes = {"op:Gemm"}}, {{.layers = "scores", .precision = kF32}});
  const auto reason_of = [&](std::string_view layer) {
    const auto it =
        std::find_if(kept.begin(), kept.end(), [&](const engine::NearMiss& m) { return m.layer == layer; });
    return it == kept.end() ? std::string() : it->reason;
  };
  EXPECT_EQ(reason_of("gemv"), "");
  EXPECT_EQ(reason_of("gemm"), "");
  EXPECT_EQ(reason_of("scores"), "");
  EXPECT_NE(reason_of("lstm"), "");
}

TEST_F(LayerTypesTest, PlansKeepThem) {
  const auto engine = build(layers.model, {.fp16 = true}, {{.layers = "gemv", .precision = kF32}});
  const auto again = runtime.deserialize_engine(engine->serialize());
  EXPECT_EQ(again->state().saved.rules.types, engine->state().saved.rules.types);
  EXPECT_EQ(types_of(*again, "gemv"), std::set<DType>{kF32});
  EXPECT_NE(EngineInspector(again)
                .engine_information(EngineInspector::Format::kJson)
                .find("\"Precision\": \"float32 (held in float32)\""),
            std::string::npos);
}

}  // namespace
}  // namespace assay::layer_types_test
