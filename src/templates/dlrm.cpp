// DLRM (Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems",
// 2019) in the configuration for the Criteo Kaggle data: products of all pairs of 26 embeddings and a dense
// vector. The tables have at most 10,000 rows here, 33.8 million there.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_dlrm {
namespace {

constexpr int64_t kDense = 13, kTables = 26, kRows = 10000, kEmbedding = 16, kVectors = kTables + 1;

Value* layers(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& widths,
              const char* last) {
  for (size_t i = 1; i < widths.size(); ++i) {
    const int at = 2 * static_cast<int>(i - 1);
    x = fully_connected(b, s.item(at), x, widths[i - 1], widths[i], Init::he_normal(widths[i - 1]));
    x = b.node(s.item(at + 1), i + 1 == widths.size() ? last : "Relu", {x});
  }
  return x;
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "dlrm");
  const Scope root;
  Value* dense = b.input("dense_x", DType::kFloat32, {b.batch(), kDense});
  Value* ids = b.input("sparse_x", DType::kInt64, {b.batch(), kTables});
  Value* x = layers(b, root.child("bot_l"), dense, {kDense, 512, 256, 64, kEmbedding}, "Relu");
  std::vector<Value*> vectors = {x};
  for (int64_t i = 0; i < kTables; ++i) {
    const Scope table = root.child(fmt::format("emb_l.{}", i));
    Value* weight = b.weight(table, "weight", {kRows, kEmbedding}, Init::normal(0.4));
    vectors.push_back(b.node(table, "Gather", {weight, pick(b, table, ids, 1, i)}, {{"axis", int64_t{0}}}));
  }
  Value* all = reshape(b, root, concat(b, root, vectors, 1), {-1, kVectors, kEmbedding});
  Value* products = b.node(root, "MatMul", {all, transpose(b, root, all, {0, 2, 1})});
  std::vector<int64_t> below;  // places under the diagonal
  for (int64_t i = 0; i < kVectors; ++i)
    for (int64_t j = 0; j < i; ++j) below.push_back(i * kVectors + j);
  const auto pairs = static_cast<int64_t>(below.size());
  Value* flat = reshape(b, root, products, {-1, kVectors * kVectors});
  Value* chosen = b.node(root, "Gather", {flat, b.ints(root, below)}, {{"axis", int64_t{1}}});
  x = concat(b, root, {x, chosen}, 1);
  x = layers(b, root.child("top_l"), x, {kEmbedding + pairs, 512, 256, 1}, "Sigmoid");
  b.output(x, "output", DType::kFloat32, {b.batch(), 1});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "dlrm",
    .summary = "recommender: products of 26 embeddings and a dense vector (Naumov et al., 2019)",
    .build = build};

}  // namespace assay::template_dlrm
