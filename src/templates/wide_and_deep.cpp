// Wide & Deep (Cheng et al., "Wide & Deep Learning for Recommender Systems", 2016): a linear model over
// crossed features in parallel with layers of 1024, 512 and 256 over embeddings of 32, as in the paper; 26
// categories and 13 numbers as in the Criteo data set, hashed to 10,000 buckets each, crosses to 100,000.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_wide_and_deep {
namespace {

constexpr int64_t kNumbers = 13, kCategories = 26, kBuckets = 10000, kEmbedding = 32, kCrosses = 10,
                  kCrossBuckets = 100000;
constexpr int64_t kWidths[] = {1024, 512, 256};

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "wide_and_deep");
  const Scope root, deep = root.child("deep"), wide = root.child("wide");
  Value* numbers = b.input("numbers", DType::kFloat32, {b.batch(), kNumbers});
  Value* categories = b.input("categories", DType::kInt64, {b.batch(), kCategories});
  Value* crosses = b.input("crosses", DType::kInt64, {b.batch(), kCrosses});
  std::vector<Value*> columns;
  for (int64_t i = 0; i < kCategories; ++i) {
    const Scope table = deep.child(fmt::format("embeddings.{}", i));
    Value* weight = b.weight(table, "weight", {kBuckets, kEmbedding}, Init::normal(0.5));
    columns.push_back(
        b.node(table, "Gather", {weight, pick(b, table, categories, 1, i)}, {{"axis", int64_t{0}}}));
  }
  columns.push_back(numbers);
  Value* x = concat(b, deep, columns, 1);
  int64_t width = kCategories * kEmbedding + kNumbers;
  int layer = 0;
  for (const int64_t outputs : kWidths) {
    x = fully_connected(b, deep.child("layers").item(2 * layer), x, width, outputs, Init::he_normal(width));
    x = b.node(deep.child("layers").item(2 * layer + 1), "Relu", {x});
    width = outputs;
    ++layer;
  }
  x = fully_connected(b, deep.child("output"), x, width, 1, Init::lecun_normal(width));
  Value* weights = b.weight(wide, "weight", {kCrosses * kCrossBuckets, 1}, Init::normal(0.1));
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < kCrosses; ++i) starts.push_back(i * kCrossBuckets);
  Value* rows = b.node(wide, "Add", {crosses, b.ints(wide, starts)});
  Value* linear_part = reduce(b, wide, "ReduceSum",
                              b.node(wide, "Gather", {weights, rows}, {{"axis", int64_t{0}}}), {1}, false);
  b.output(b.node(root, "Sigmoid", {b.node(root, "Add", {x, linear_part})}), "output", DType::kFloat32,
           {b.batch(), 1});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "wide-and-deep",
    .summary = "recommender: linear model over crosses beside a deep one (Cheng et al., 2016)",
    .build = build};

}  // namespace assay::template_wide_and_deep
