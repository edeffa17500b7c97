#include "engine/build/builder.h"

#include <dnnl.hpp>

#include "base/cpus.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"
#include "passes/pipelines.h"

namespace assay::engine {
namespace {

/// Folding makes shapes known, and known shapes let more fold.
constexpr int kMaxRounds = 4;

/// Runs the passes for known shapes over a model whose types have been inferred.
void optimize(Model& model) {
  for (int round = 0; round < kMaxRounds; ++round) {
    int64_t edits = 0;
    for (const PassReport& r : run_passes(model, specialize_pipeline())) edits += r.edits;
    if (edits == 0) break;
    infer_shapes(model);
  }
  run_passes(model, fusion_pipeline());
}

}  // namespace

Builder::Builder(const Model& model, BuildConfig config)
    : config_(std::move(config)), canonical_(clone_model(model)) {
  infer_shapes(*canonical_);
  run_passes(*canonical_, lowering_pipeline());
  if (config_.optimize) run_passes(*canonical_, canonical_pipeline());
}

std::shared_ptr<const Plan> Builder::build(std::span<const Shape> input_shapes) {
  const std::shared_ptr<Model> model = clone_model(*canonical_);
  Graph& g = *model->graph;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i]->type.is_tensor())
      g.inputs[i]->type = Type::tensor(g.inputs[i]->type.dtype, input_shapes[i]);
  infer_shapes(*model);
  if (config_.optimize) optimize(*model);
  LoweredPlan lowered = lower_graph(*model, config_, cache_);
  resolve_outputs(lowered);
  place_values(lowered);
  return std::make_shared<Plan>(std::move(lowered.plan));
}

BuildConfig default_config(int threads) {
  BuildConfig config;
  config.threads = threads > 0 ? threads : available_cpus();
  config.block = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8;
  return config;
}

}  // namespace assay::engine
