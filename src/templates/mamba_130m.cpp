// Mamba-130M (Gu and Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023), named as
// in Hugging Face's MambaForCausalLM: a prompt of 64 tokens; the selective scan is the operator Scan.
#include <fmt/core.h>

#include "templates/language_model.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_mamba_130m {
namespace {

constexpr int64_t kVocabulary = 50280, kWidth = 768, kInner = 1536, kStates = 16, kRank = 48, kKernel = 4,
                  kPrompt = 64;
constexpr int kLayers = 24;
constexpr float kEpsilon = 1e-5F;

/// h = decay * h + input, y = sum over the states of h * output, step by step. decay and input are [batch,
/// inner, tokens, states], output [batch, tokens, states]; gives y [batch, inner, tokens].
Value* scan(TemplateBuilder& b, const Scope& s, Value* start, Value* decay, Value* input, Value* output) {
  const Scope step = s.child("step");
  const auto body = b.body(step.path(), [&] {
    const auto name = [&](const char* leaf) { return step.path() + "/" + leaf; };
    const Dims state = {b.batch(), kInner, kStates};
    Value* h = b.input(name("h"), DType::kFloat32, state);
    Value* decay_now = b.input(name("decay"), DType::kFloat32, state);
    Value* input_now = b.input(name("input"), DType::kFloat32, state);
    Value* output_now = b.input(name("output"), DType::kFloat32, {b.batch(), kStates});
    Value* next = b.node(step, "Add", {b.node(step, "Mul", {decay_now, h}), input_now});
    Value* column = unsqueeze(b, step, output_now, {2});
    Value* y = reshape(b, step, b.node(step, "MatMul", {next, column}), {0, kInner});
    b.output(next, name("h_next"), DType::kFloat32, state);
    b.output(y, name("y"), DType::kFloat32, {b.batch(), kInner});
  });
  return b.node_with_outputs(s, "Scan", {start, decay, input, output},
                             {{"body", body},
                              {"num_scan_inputs", int64_t{3}},
                              {"scan_input_axes", std::vector<int64_t>{2, 2, 1}},
                              {"scan_output_axes", std::vector<int64_t>{2}}},
                             2)[1];
}

Value* mixer(TemplateBuilder& b, const Scope& s, Value* x) {
  const std::vector<Value*> halves =
      split(b, s,
            transpose(b, s, product(b, s.child("in_proj"), x, kWidth, 2 * kInner, Init::lecun_normal(kWidth)),
                      {0, 2, 1}),
            1, {kInner, kInner});
  const DepthwiseConv1d causal = {
      .inputs = kInner, .outputs = kInner, .kernel = kKernel, .pad = kKernel - 1, .groups = kInner};
  Value* u = slice(b, s, depthwise_conv1d(b, s.child("conv1d"), halves[0], causal), 2, 0, 1 - kKernel);
  u = silu(b, s.child("act"), u);  // [batch, inner, tokens]
  Value* parameters = product(b, s.child("x_proj"), transpose(b, s, u, {0, 2, 1}), kInner,
                              kRank + 2 * kStates, Init::lecun_normal(kInner));
  const std::vector<Value*> parts = split(b, s, parameters, 2, {kRank, kStates, kStates});
  const Scope dt = s.child("dt_proj");
  Value* delta = product(b, dt, parts[0], kRank, kInner, Init::lecun_normal(kRank));
  // Steps from 0.01 to 0.1 behind Softplus.
  delta = b.node(dt, "Add", {delta, b.weight(dt, "bias", {kInner}, Init::uniform(1.2, -3.4))});
  delta = unsqueeze(b, s, transpose(b, s, b.node(s, "Softplus", {delta}), {0, 2, 1}),
                    {3});  // [batch, inner, tokens, 1]
  Value* a = b.node(s, "Neg",
                    {b.node(s, "Exp", {b.weight(s, "A_log", {kInner, kStates}, Init::uniform(1.4, 1.4))})});
  a = unsqueeze(b, s, a, {0, 2});
  Value* decay = b.node(s, "Exp", {b.node(s, "Mul", {a, delta})});
  Value* input = b.node(s, "Mul", {delta, unsqueeze(b, s, parts[1], {1})});
  input = b.node(s, "Mul", {input, unsqueeze(b, s, u, {3})});
  Value* shape = concat(b, s, {extent(b, s, u, 0), b.ints(s, {kInner, kStates})}, 0);
  Value* start = b.node(s, "ConstantOfShape", {shape},
                        {{"value", UnalignedTensor(Tensor::vector(std::vector<float>{0}))}});
  Value* y = scan(b, s, start, decay, input, parts[2]);
  Value* skip = unsqueeze(b, s, b.weight(s, "D", {kInner}, Init::normal(0.1, 1.0)), {0, 2});
  y = b.node(s, "Add", {y, b.node(s, "Mul", {u, skip})});
  y = b.node(s, "Mul", {y, silu(b, s.child("act"), halves[1])});
  return product(b, s.child("out_proj"), transpose(b, s, y, {0, 2, 1}), kInner, kWidth,
                 Init::lecun_normal(kInner));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "mamba_130m");
  const Scope root, backbone = root.child("backbone"), embed = backbone.child("embeddings");
  const Dim tokens = b.is_dynamic() ? Dim::symbol("sequence") : Dim(kPrompt);
  Value* ids = b.input("input_ids", DType::kInt64, {b.batch(), tokens});
  Value* table = b.weight(embed, "weight", {kVocabulary, kWidth}, Init::normal(0.1));
  Value* x = b.node(embed, "Gather", {table, ids}, {{"axis", int64_t{0}}});
  for (int i = 0; i < kLayers; ++i) {
    const Scope layer = backbone.child(fmt::format("layers.{}", i));
    x = b.node(layer, "Add",
               {x, mixer(b, layer.child("mixer"), rms_norm(b, layer.child("norm"), x, kWidth, kEpsilon))});
  }
  x = rms_norm(b, backbone.child("norm_f"), x, kWidth, kEpsilon);
  const Scope head = root.child("lm_head");
  Value* logits = b.node(head, "MatMul", {x, transpose(b, head, table, {1, 0})});
  b.output(logits, "logits", DType::kFloat32, {b.batch(), tokens, kVocabulary});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mamba-130m",
    .summary = "language model: selective state spaces by Scan, a prompt of 64 (Gu and Dao, 2023)",
    .build = build};

}  // namespace assay::template_mamba_130m
