// DETR on ResNet-50 (Carion et al., "End-to-End Object Detection with Transformers", 2020), named as in the
// authors' code: 100 queries, 91 classes of COCO and none; attention in PyTorch's layout [tokens, batch,
// channels].
#include <fmt/core.h>

#include <cmath>

#include "templates/layers.h"
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_detr_r50 {
namespace {

constexpr int64_t kExtent = 512, kWidth = 256, kInner = 2048, kQueries = 100, kClasses = 92;
constexpr int64_t kCells = (kExtent / 32) * (kExtent / 32);
constexpr Heads kHeads = {8, 32};
constexpr int kLayers = 6;
constexpr float kEpsilon = 1e-5F;
const Init kInit = Init::lecun_normal(kWidth);

Value* norm(TemplateBuilder& b, const Scope& s, Value* x) { return layer_norm(b, s, x, kWidth, kEpsilon); }

/// torch.nn.MultiheadAttention: heads become part of the batch. Its single weight of the three projections is
/// split, as by the exporter.
Value* attention(TemplateBuilder& b, const Scope& s, Value* query, Value* key, Value* value, int64_t queries,
                 int64_t keys) {
  const auto heads = [&](const char* name, Value* x, int64_t tokens) {
    Value* y = reshape(b, s, linear(b, s.child(name), x, kWidth, kWidth, kInit), {tokens, -1, kHeads.width});
    return transpose(b, s, y, {1, 0, 2});
  };
  Value* q = b.node(s, "Mul",
                    {heads("q_proj", query, queries), b.scalar(s, 0.17677669F)});  // 1 / sqrt(kHeads.width)
  Value* scores = b.node(s, "MatMul", {q, transpose(b, s, heads("k_proj", key, keys), {0, 2, 1})});
  Value* mixed = b.node(s, "MatMul", {softmax(b, s, scores), heads("v_proj", value, keys)});
  mixed = reshape(b, s, transpose(b, s, mixed, {1, 0, 2}), {queries, -1, kWidth});
  return linear(b, s.child("out_proj"), mixed, kWidth, kWidth, kInit);
}

Value* feed_forward(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* y = b.node(s, "Relu", {linear(b, s.child("linear1"), x, kWidth, kInner, Init::he_normal(kWidth))});
  return linear(b, s.child("linear2"), y, kInner, kWidth, Init::lecun_normal(kInner));
}

/// Sines and cosines of both coordinates, [cells, 1, kWidth].
Tensor position_embedding() {
  constexpr int64_t kSide = kExtent / 32, kHalf = kWidth / 2;
  constexpr double kTurn = 6.283185307179586;
  std::vector<float> t;
  for (int64_t cell = 0; cell < kCells; ++cell)
    for (const int64_t at : {cell / kSide, cell % kSide})
      for (int64_t i = 0; i < kHalf; ++i) {
        const double place = static_cast<double>(at + 1) / static_cast<double>(kSide) * kTurn;
        const double angle =
            place / std::pow(10000.0, static_cast<double>(i / 2 * 2) / static_cast<double>(kHalf));
        t.push_back(static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
      }
  return Tensor::from({kCells, 1, kWidth}, t);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "detr_r50", {.folds_norms = true});
  const Scope root, transformer = root.child("transformer");
  const Feature map = resnet_stages(b, root.at("backbone.0/body"),
                                    image_input(b, "images", 3, kExtent, kExtent), {.depths = {3, 4, 6, 3}})
                          .back();
  const Feature projected = conv(b, root.child("input_proj"), map, {.outputs = kWidth, .bias = true},
                                 Init::lecun_normal(map.channels), Init::normal(0.02));
  Value* x = transpose(b, root, reshape(b, root, projected.value, {-1, kWidth, kCells}), {2, 0, 1});
  Value* positions = b.constant(root, position_embedding());
  const auto plus = [&](const Scope& s, Value* v, Value* w) { return b.node(s, "Add", {v, w}); };
  for (int i = 0; i < kLayers; ++i) {
    const Scope s = transformer.at(fmt::format("encoder/layers.{}", i));
    Value* placed = plus(s, x, positions);
    x = norm(b, s.child("norm1"),
             plus(s, x, attention(b, s.child("self_attn"), placed, placed, x, kCells, kCells)));
    x = norm(b, s.child("norm2"), plus(s, x, feed_forward(b, s, x)));
  }
  Value* memory = x;
  Value* placed_memory = plus(transformer, memory, positions);
  Value* table = b.weight(root.child("query_embed"), "weight", {kQueries, kWidth}, Init::normal(1.0));
  Value* queries = unsqueeze(b, root, table, {1});
  Value* shape = concat(
      b, transformer,
      {b.ints(transformer, {kQueries}), extent(b, transformer, memory, 1), b.ints(transformer, {kWidth})}, 0);
  Value* y = b.node(transformer, "Expand", {b.scalar(transformer, 0), shape});
  for (int i = 0; i < kLayers; ++i) {
    const Scope s = transformer.at(fmt::format("decoder/layers.{}", i));
    Value* placed = plus(s, y, queries);
    y = norm(b, s.child("norm1"),
             plus(s, y, attention(b, s.child("self_attn"), placed, placed, y, kQueries, kQueries)));
    Value* seen =
        attention(b, s.child("multihead_attn"), plus(s, y, queries), placed_memory, memory, kQueries, kCells);
    y = norm(b, s.child("norm2"), plus(s, y, seen));
    y = norm(b, s.child("norm3"), plus(s, y, feed_forward(b, s, y)));
  }
  y = transpose(b, root, norm(b, transformer.at("decoder/norm"), y), {1, 0, 2});
  Value* logits = linear(b, root.child("class_embed"), y, kWidth, kClasses, kInit);
  const Scope boxes = root.child("bbox_embed");
  for (int i = 0; i < 3; ++i) {
    y = linear(b, boxes.child(fmt::format("layers.{}", i)), y, kWidth, i == 2 ? 4 : kWidth, kInit);
    if (i < 2) y = b.node(boxes, "Relu", {y});
  }
  b.output(logits, "pred_logits", DType::kFloat32, {b.batch(), kQueries, kClasses});
  b.output(b.node(root, "Sigmoid", {y}), "pred_boxes", DType::kFloat32, {b.batch(), kQueries, 4});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "detr-r50",
    .summary = "object detector: ResNet-50, transformer with 100 queries, 512x512 (Carion et al., 2020)",
    .build = build};

}  // namespace assay::template_detr_r50
