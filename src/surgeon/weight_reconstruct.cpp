#include "surgeon/weight_reconstruct.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "analysis/sparsity.h"
#include "assay/edit.h"
#include "graph/initializer_data.h"
#include "surgeon/prune.h"
#include "tensor/convert.h"
#include "tensor/random_weights.h"
#include "tensor/scratch_tensor.h"
#include "transform/randomize_weights.h"

namespace assay {
namespace {

/// Elements generated at a time: a multiple of eight, so that packed types end on a byte.
constexpr int64_t kDrawnAtOnce = int64_t{1} << 20;
/// Default distribution of floats with an unknown use.
constexpr double kPlainDeviation = 0.05;

/// Random numbers of a scale that keeps results in range, as far as the use determines it.
Init init_of(const Value& v, const Shape& shape, const Model& model) {
  if (!is_float(v.type.dtype)) return Init::normal(1);
  return init_by_use(v, shape, model).value_or(Init::normal(kPlainDeviation));
}

Tensor random_tensor(uint64_t seed, const Value& v, const Model& model) {
  const DType dtype = v.type.dtype;
  require(dtype != DType::kString, ErrorCode::kUnsupported,
          "the initializer '{}' holds strings, and there are no random ones", v.name());
  const Shape shape = known_shape(v.type.dims.value_or(Dims())).value_or(Shape());
  const int64_t count = shape.numel();
  const Init init = init_of(v, shape, model);
  ScratchTensor out(dtype, shape);
  for (int64_t first = 0; first < count; first += kDrawnAtOnce) {
    const int64_t size = std::min(kDrawnAtOnce, count - first);
    Tensor piece = Tensor::allocate(DType::kFloat32, Shape({size}));
    fill_random_weights(seed, v.name(), init, first, piece.mutable_span<float>());
    const Tensor converted = convert(piece, dtype);
    const size_t offset = storage_bytes(dtype, first);
    std::memcpy(out.data() + offset, converted.data(), converted.nbytes());
    out.written_up_to(offset + converted.nbytes());
  }
  return out.finish();
}

}  // namespace

int64_t reconstruct_weights(Model& model, uint64_t seed, WeightObserver* observer) {
  WeightObserver none;
  WeightObserver& told = observer != nullptr ? *observer : none;
  told.on_reconstruct_begin();
  int64_t filled = 0;
  std::unordered_set<const Value*> sparse;
  std::vector<Graph*> graphs = subgraphs(*model.graph, /*recursive=*/true);
  graphs.insert(graphs.begin(), model.graph.get());
  for (const Graph* g : graphs)
    for (const auto& v : g->values()) {
      if (!is_weightless(*v)) continue;
      told.on_reconstruct(*v);
      if (tensor_doc_string(*v).find("/SPARSE_2_4") != std::string::npos) sparse.insert(v.get());
      replace_data(*v, random_tensor(seed, *v, model));
      ++filled;
    }
  told.on_reconstructed();
  const SparsityTargets targets =
      find_sparsity_targets(model, [&](const Value& v) { return !sparse.contains(&v); });
  told.on_prunable(targets);
  prune_weights(targets.eligible, &told);
  told.on_reconstruct_end(filled);
  return filled;
}

}  // namespace assay
