// Import, then a run on the reference with generated data: float64 with noisy lanes, or the stored types.
#include <functional>

#include "fuzz/targets/models.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "run/data_loader.h"

namespace assay::fuzz::target_model_run {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input);
  const bool ideal = std::hash<std::string_view>()(input) % 2 == 0;
  if (ideal)
    infer_shapes(*model);
  else
    infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
  require_quick(*model, true);
  InterpreterOptions options{.precision = ideal ? ReferencePrecision::kFloat64 : ReferencePrecision::kStored};
  options.noisy_lanes = ideal ? 1 : 0;
  options.max_work = 1 << 22;
  std::vector<TensorInfo> infos;
  for (const Value* v : model->graph->inputs) infos.push_back({v->name(), v->type});
  std::vector<Tensor> feed;
  for (NamedTensor& t : DataLoader({}).load(0, infos, DataLoader::Report::kNo))
    feed.push_back(std::move(t.tensor));
  Interpreter(model, options).run(feed, [](const Value&, std::span<const Tensor>) {});
}

}  // namespace

constinit const Target def = model_target("model_run", run);

}  // namespace assay::fuzz::target_model_run
