#include "cli/layer_sides.h"

#include <fmt/format.h>

#include <cmath>

#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/registries.h"
#include "run/coerce_inputs.h"
#include "run/live_stream.h"
#include "run/output_recorder.h"

namespace assay::cli {
namespace {

/// Fills in the values of a side in an iteration.
void fill(LayerSide& side, const TensorList& data, int64_t iteration, debug::LayerValues& values) {
  if (side.layers != nullptr) {
    side.layers->run(data,
                     [&](const std::string& name, Tensor value) { values.put(name, std::move(value)); });
    return;
  }
  const auto index = static_cast<size_t>(iteration);
  if (index >= side.saved.size())
    log::critical(ErrorCode::kInvalidArgument,
                  "{} holds {} iteration(s), and there are data for more: give the same --iterations or "
                  "--load-inputs.",
                  side.name, side.saved.size());
  const IterationResult& result = side.saved[index];
  if (!result.inputs.empty() && result.inputs != fingerprint_of(data))
    log::critical(ErrorCode::kInvalidArgument,
                  "{} was made with other inputs than those of iteration {}: give the same data options, or "
                  "--load-inputs.",
                  side.name, iteration);
  for (const NamedTensor& t : data) values.put(t.name, t.tensor);
  for (const NamedStoredTensor& t : result.outputs)
    if (t.tensor.defined()) values.put(t.name, t.tensor.load());
}

}  // namespace

void add_tolerance_options(ArgParser& parser) {
  parser.add_group("Tolerance").options = {
      {.names = {"--atol"},
       .help = "What elements may differ by. Without --atol and --rtol: by a share of the largest number of "
               "the tensor, 1e-4 for float32, 1e-2 for float16.",
       .metavar = "NUMBER",
       .kind = ValueKind::kNumber},
      {.names = {"--rtol"},
       .help = "The same, as a share of the element of the second one.",
       .metavar = "NUMBER",
       .kind = ValueKind::kNumber},
  };
}

debug::LayerTolerance read_tolerance(const ParsedArgs& args) {
  debug::LayerTolerance tolerance{.atol = args.number("--atol"), .rtol = args.number("--rtol")};
  for (const auto& [option, value] :
       {std::pair("--atol", tolerance.atol), std::pair("--rtol", tolerance.rtol)})
    if (value && !(*value >= 0 && std::isfinite(*value)))
      log::critical(ErrorCode::kInvalidArgument, "{}: {} is no tolerance: give a number from 0 on.", option,
                    format_g(*value, 6));
  return tolerance;
}

LayerSide live_side(const LayerOptions& options, const std::string& path, const RunnerChoice& runner) {
  LayerSide side;
  ModelLoaderOptions loading = options.loading;
  loading.path = path;
  side.model = load_layers(loading, side.outputs);
  side.layers = std::make_unique<debug::LayerRun>(side.model, path, runner, options.session);
  side.name = fmt::format("{} of {}", side.layers->backend(), path);
  return side;
}

LayerSide saved_side(const std::string& path, const std::shared_ptr<const Model>& model) {
  LayerSide side{.name = path, .model = model};
  RunResults results = load_all_results_aloud(path);
  if (results.runners.size() != 1)
    log::critical(ErrorCode::kInvalidArgument,
                  "{} holds the results of {} runners: give those of one, with all layers.", path,
                  results.runners.size());
  side.saved = std::move(results.runners.front().second);
  return side;
}

debug::DivergenceReport compare_sides(LayerSide& first, LayerSide& second, debug::DivergenceOptions how,
                                      const LayerOptions& options) {
  debug::DivergenceSearch search(first.model, second.model, std::move(how));
  const std::shared_ptr<DataSource> source = options.make_data();
  source->begin(first.layers != nullptr ? first.layers->inputs() : tensor_infos(first.model->graph->inputs));
  while (const std::optional<TensorList> data = source->next()) {
    TensorStore store(kResultMemory);
    debug::LayerValues a(store), b(store);
    const int64_t iteration = search.report().iterations;
    fill(first, *data, iteration, a);
    fill(second, *data, iteration, b);
    search.look(a, b);
  }
  debug::DivergenceReport report = search.take_report();
  report.first_name = first.name;
  report.second_name = second.name;
  require(report.iterations > 0, ErrorCode::kInvalidArgument, "no iteration has data to run the model on");
  if (report.compared <= first.model->graph->inputs.size() && !first.model->graph->nodes().empty())
    log::critical(ErrorCode::kInvalidArgument,
                  "The two have no tensor in common but inputs: are they the results of all layers of this "
                  "network?");
  return report;
}

}  // namespace assay::cli
