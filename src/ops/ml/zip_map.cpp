// ZipMap: every row of [N, C], or [C], as a map from the labels to its entries, in ascending order of the
// labels.
#include <algorithm>
#include <numeric>

#include "ops/ml/features.h"
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"
#include "ops/value_type.h"

namespace assay::op_ml_ZipMap {
namespace {

constexpr const char *kInts = "classlabels_int64s", *kStrings = "classlabels_strings";

void infer(InferContext& c) {
  const ClassLabels labels(c, kInts, kStrings);
  infer_rows(c);
  const Dims* in = c.input_dims(0);
  c.check(
      in == nullptr || !in->back().is_known() || in->back().value() == static_cast<int64_t>(labels.size()),
      "{} labels for {} columns", labels.size(), in ? in->back().value() : 0);
  Type map{.kind = Type::Kind::kMap, .dtype = labels.dtype()};
  map.element = std::make_shared<const Type>(Type::tensor(DType::kFloat32, Dims()));
  c.set_output_type(0, sequence_of(std::move(map)));
}

/// The order in which the labels ascend. Throws Error when two are equal.
template <typename T>
std::vector<size_t> ascending(const OpContext& c, std::span<const T> labels) {
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return labels[a] < labels[b]; });
  for (size_t i = 1; i < order.size(); ++i)
    c.check(labels[order[i - 1]] != labels[order[i]], "the label '{}' occurs twice", labels[order[i]]);
  return order;
}

void eval(EvalContext& c) {
  const ClassLabels labels(c, kInts, kStrings);
  const Features x(c);
  c.check(x.count == static_cast<int64_t>(labels.size()), "{} labels for {} columns", labels.size(), x.count);
  c.check(x.rows <= kLongestSequence, "{} rows are more than a sequence may hold, {}", x.rows,
          kLongestSequence);
  const Tensor& all = labels.labels();
  const std::vector<size_t> order = all.dtype() == DType::kString ? ascending(c, all.span<std::string>())
                                                                  : ascending(c, all.span<int64_t>());
  const Tensor keys = labels.pick(order);
  std::vector<Tensor> maps;
  for (int64_t r = 0; r < x.rows; ++r) {
    std::vector<double> values;
    for (const size_t i : order) values.push_back(x.row(r)[i]);
    maps.push_back(Tensor::map(keys, Tensor::vector(values)));
  }
  c.set_output(0, make_sequence(std::move(maps)));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: float
out Z: T
attr classlabels_int64s: ints
attr classlabels_strings: strings
type T: seq(map(string, float)) seq(map(int64, float)))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "ZipMap", .versions = kVersions};

}  // namespace assay::op_ml_ZipMap
