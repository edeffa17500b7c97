// The contents of models, engines and tensors as data: nodes, costs, differences, what the engine can run,
// statistics.
#include <assay/builder.h>
#include <assay/inspect.h>
#include <assay/io.h>

#include <cstdio>

#include "models.h"

int main() {
  using namespace assay;
  const std::shared_ptr<Model> model = load_model(dynamic_model());

  const ModelDescription description = describe(*model, {.layers = true, .attrs = true});
  for (const NodeDescription& n : description.graph.nodes) {
    std::printf("%s:", n.op_type.c_str());
    for (const DescribedValue& v : n.inputs)
      if (v != nullptr) std::printf(" %s %s", v->name.c_str(), v->type.str().c_str());
    std::printf("\n");
  }
  std::printf("%s\n\n", model_text(description).c_str());

  const ModelStats stats = model_stats(*model);
  std::printf("%ld parameters, %s multiply-accumulates\n", static_cast<long>(stats.parameters),
              stats.macs.str().c_str());

  // Another weight is a difference; another name of a value inside is none.
  const std::shared_ptr<Model> other = load_model("dynamic.onnx");
  other->graph->nodes()[0]->output(0)->rename("scores");
  if (!diff_models(*model, *other).is_same()) return 1;
  for (const auto& v : other->graph->values())
    if (v->is_constant()) v->set_tensor(Tensor::zeros(DType::kFloat32, Shape{4, 3}));
  const ModelDiff diff = diff_models(*model, *other);
  std::printf("%s\n\n", diff_text(diff).c_str());
  if (diff.differences.size() != 1 || diff.differences[0].kind != ModelDifference::Kind::kInitializer)
    return 1;

  // The shapes to plan for are known when the batch is.
  model->graph->inputs[0]->type.dims = Dims{Dim(2), Dim(4)};
  const Capability can = capability(*model);
  if (!can.unsupported.empty() || can.ranges.size() != 1 || !can.ranges[0].use) return 1;
  std::printf("%s\n\n", tactics_text(*can.ranges[0].use).c_str());

  const std::vector<WeightSparsity> weights = weight_sparsity(*model);
  if (weights.size() != 1 || weights[0].state != WeightSparsity::State::kDense) return 1;

  const Runtime runtime(RuntimeOptions{.threads = 1});
  const EngineDescription engine =
      describe(*Builder(runtime).build_engine(model, {.optimization_level = 0}), {.layers = true});
  std::printf("%s", engine_text(engine).c_str());
  if (engine.layers.empty()) return 1;

  const ArrayDescription array =
      describe("x", Tensor::from<float>(Shape{4}, std::vector<float>{1, 2, 3, 6}), {.histogram = true});
  std::printf("%s\n", array_text(array, {.histogram = true}, 1).c_str());
  return array.statistics && array.statistics->mean == 3 && array.histogram ? 0 : 1;
}
