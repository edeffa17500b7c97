// Judges results of the caller.
#include <algorithm>

#include "arbiter/arbiter.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

/// In the order of the graph's inputs.
std::vector<Tensor> in_order(const Graph& g, const TensorList& feed) {
  std::vector<Tensor> tensors;
  for (const Value* v : g.inputs) {
    const auto it =
        std::find_if(feed.begin(), feed.end(), [&](const NamedTensor& t) { return t.name == v->name(); });
    if (it == feed.end())
      fail(ErrorCode::kInvalidArgument,
           "the data lack the input '{}' of the model, so that results cannot be judged", v->name());
    tensors.push_back(it->tensor);
  }
  return tensors;
}

/// Throws Error where a runner has nothing that could be judged.
void require_results(const Graph& g, std::span<const JudgedResults> results) {
  require(!results.empty(), ErrorCode::kInvalidArgument, "there are no results to judge");
  for (const JudgedResults& r : results) {
    const bool any = std::any_of(r.outputs.begin(), r.outputs.end(),
                                 [&](const NamedTensor& t) { return g.find_value(t.name) != nullptr; });
    require(any, ErrorCode::kNotFound, "the results of '{}' hold no tensor of the model", r.runner);
  }
}

}  // namespace

Arbitration arbitrate(const std::shared_ptr<const Model>& model, const TensorList& feed,
                      std::span<const JudgedResults> results, const ArbiterOptions& options) {
  const std::shared_ptr<Model> own = clone_model(*model);
  if (!own->functions.empty()) pass_inline_functions::def.run(*own);
  infer_shapes(*own);
  require_results(*own->graph, results);
  std::vector<StoredTensorList> outputs;
  outputs.reserve(results.size());
  std::vector<ArbiterCase> cases;
  for (const JudgedResults& r : results) {
    StoredTensorList& list = outputs.emplace_back();
    for (const NamedTensor& t : r.outputs) list.push_back({t.name, t.tensor});
    cases.push_back({r.runner, &list, false, &r.asked});
  }
  const std::vector<Tensor> inputs = in_order(*own->graph, feed);
  return arbitrate(own, inputs, std::span<const ArbiterCase>(cases), options);
}

}  // namespace assay
