// One step of Tacotron 2's decoder (Shen et al., "Natural TTS Synthesis by Conditioning WaveNet on Mel
// Spectrogram Predictions", 2018) as NVIDIA's implementation exports it: LSTM cells in simpler operators,
// location-sensitive attention over 100 encoder steps. Without the pre-net's dropout, which would make it
// random.
#include <cmath>

#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_tacotron2_step {
namespace {

constexpr int64_t kBands = 80, kPrenet = 256, kEncoder = 512, kHidden = 1024, kAttention = 128, kFilters = 32;
constexpr int64_t kSteps = 100;

Value* bare(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs, double gain = 1) {
  const Init init = Init::normal(gain / std::sqrt(static_cast<double>(inputs)));
  return product(b, s.child("linear_layer"), x, inputs, outputs, init);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "tacotron2_step");
  const Scope root, decoder = root.child("decoder"), prenet = decoder.child("prenet");
  const Scope attention = decoder.child("attention_layer"), location = attention.child("location_layer");
  const Dim batch = b.batch();
  const auto state = [&](const char* name, Dims dims) {
    return b.input(name, DType::kFloat32, std::move(dims));
  };
  Value* x = state("decoder_input", {batch, kBands});
  const CellState attention_state = {state("attention_hidden", {batch, kHidden}),
                                     state("attention_cell", {batch, kHidden})};
  const CellState decoder_state = {state("decoder_hidden", {batch, kHidden}),
                                   state("decoder_cell", {batch, kHidden})};
  Value* weights = state("attention_weights", {batch, kSteps});
  Value* sums = state("attention_weights_cum", {batch, kSteps});
  Value* context = state("attention_context", {batch, kEncoder});
  Value* memory = state("memory", {batch, kSteps, kEncoder});
  Value* processed = state("processed_memory", {batch, kSteps, kAttention});
  Value* mask = b.input("mask", DType::kInt64, {batch, kSteps});  // 1: no encoder step

  x = b.node(prenet, "Relu", {bare(b, prenet.child("layers.0"), x, kBands, kPrenet, 1.4)});
  x = b.node(prenet, "Relu", {bare(b, prenet.child("layers.1"), x, kPrenet, kPrenet, 1.4)});
  const CellState first = lstm_cell(b, decoder.child("attention_rnn"), concat(b, decoder, {x, context}, -1),
                                    attention_state, kPrenet + kEncoder, kHidden);
  Value* seen =
      concat(b, decoder, {unsqueeze(b, decoder, weights, {1}), unsqueeze(b, decoder, sums, {1})}, 1);
  seen =
      depthwise_conv1d(b, location.at("location_conv/conv"), seen,
                       DepthwiseConv1d{.inputs = 2, .outputs = kFilters, .kernel = 31, .bias = false}.same());
  seen = bare(b, location.child("location_dense"), transpose(b, location, seen, {0, 2, 1}), kFilters,
              kAttention);
  Value* query = bare(b, attention.child("query_layer"), unsqueeze(b, attention, first.hidden, {1}), kHidden,
                      kAttention);
  Value* energy = b.node(attention, "Add", {b.node(attention, "Add", {query, seen}), processed});
  energy = bare(b, attention.child("v"), b.node(attention, "Tanh", {energy}), kAttention, 1, 3);
  energy = reshape(b, attention, energy, {0, kSteps});
  Value* hidden = b.node(attention, "Cast", {mask}, {{"to", static_cast<int64_t>(DType::kBool)}});
  energy = b.node(attention, "Where", {hidden, b.scalar(attention, -1e30F), energy});
  Value* focus = softmax(b, attention, energy);
  Value* mixed = b.node(attention, "MatMul", {unsqueeze(b, attention, focus, {1}), memory});
  mixed = reshape(b, attention, mixed, {0, kEncoder});
  const CellState second =
      lstm_cell(b, decoder.child("decoder_rnn"), concat(b, decoder, {first.hidden, mixed}, -1), decoder_state,
                kHidden + kEncoder, kHidden);
  Value* joined = concat(b, decoder, {second.hidden, mixed}, 1);
  const auto projected = [&](const char* name, int64_t outputs) {
    const Init init = Init::lecun_normal(kHidden + kEncoder);
    return linear(b, decoder.child(name).child("linear_layer"), joined, kHidden + kEncoder, outputs, init);
  };
  const auto give = [&](Value* v, const char* name, int64_t width) {
    b.output(v, name, DType::kFloat32, {batch, width});
  };
  give(projected("linear_projection", kBands), "decoder_output", kBands);
  give(projected("gate_layer", 1), "gate_prediction", 1);
  give(first.hidden, "out_attention_hidden", kHidden);
  give(first.cell, "out_attention_cell", kHidden);
  give(second.hidden, "out_decoder_hidden", kHidden);
  give(second.cell, "out_decoder_cell", kHidden);
  give(focus, "out_attention_weights", kSteps);
  give(b.node(decoder, "Add", {sums, focus}), "out_attention_weights_cum", kSteps);
  give(mixed, "out_attention_context", kEncoder);
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "tacotron2-step",
    .summary = "speech synthesis: one decoder step, LSTM cells, attention by location (Shen et al., 2018)",
    .build = build};

}  // namespace assay::template_tacotron2_step
