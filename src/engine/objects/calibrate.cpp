#include "engine/objects/calibrate.h"

#include <algorithm>
#include <functional>

#include "analysis/held_types.h"
#include "engine/objects/state.h"
#include "graph/clone.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "naming/selector.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"
#include "passes/pass_set.h"

namespace assay {
namespace {

constexpr const char* kCalibrateAnew = "Move it away to calibrate anew.";

bool has_quantization(const Graph& g) {
  return std::any_of(g.nodes().begin(), g.nodes().end(), [](const auto& n) {
    if (is_op(*n, "QuantizeLinear") || is_op(*n, "DequantizeLinear") || n->op_type.starts_with("QLinear"))
      return true;
    const std::vector<const Graph*> inside = subgraphs_of(*n);
    return std::any_of(inside.begin(), inside.end(), [](const Graph* s) { return has_quantization(*s); });
  });
}

bool is_float32(const Value* v) { return v->type.is_tensor() && v->type.dtype == DType::kFloat32; }

/// The network in the form in which names of functions' values are known, every float32 tensor an output.
std::shared_ptr<Model> with_all_outputs(const Model& network, const CalibrationJob& job) {
  std::shared_ptr<Model> model = clone_model(network);
  infer_shapes(*model);
  run_passes(*model, passes_of({.set = job.passes}).stage(PassStage::kLowering));
  Graph& g = *model->graph;
  g.outputs.clear();
  for (const auto& n : g.nodes())
    if (!is_op(*n, "Constant"))
      for (Value* v : n->outputs())
        if (v != nullptr && is_float32(v)) g.outputs.push_back(v);
  return model;
}

/// Inputs with the shapes that data should have.
std::vector<TensorInfo> wanted_inputs(const Graph& g, const std::vector<OptimizationProfile>& profiles) {
  std::vector<TensorInfo> inputs;
  for (const Value* v : g.inputs) {
    Type type = v->type;
    const OptimizationProfile::Range* range = profiles.empty() ? nullptr : profiles.back().find(v->name());
    if (range != nullptr && !range->holds_values) type = Type::tensor(type.dtype, Shape(range->opt));
    inputs.push_back({v->name(), std::move(type)});
  }
  return inputs;
}

}  // namespace

bool is_quantized(const Model& network) {
  return has_quantization(*network.graph) ||
         std::any_of(network.functions.begin(), network.functions.end(),
                     [](const auto& f) { return has_quantization(*f.body); });
}

namespace {

/// The scales of the calibrator's cache, where it has one that suits it.
std::optional<CalibrationTable> cached_table(const CalibrationJob& job) {
  const std::optional<std::string> text = job.calibrator->read_cache();
  if (!text || text->empty()) return std::nullopt;
  const std::string name = job.calibrator->cache_name();
  try {
    CalibrationTable table = CalibrationTable::parse(*text, name);
    if (table.algorithm == job.calibrator->algorithm()) return table;
    job.warn(fmt::format(
        "{} is of {}, not of {}: its scales are not used, and those of a new calibration replace it", name,
        algorithm_name(table.algorithm), algorithm_name(job.calibrator->algorithm())));
    return std::nullopt;
  } catch (Error& e) {
    e.set_remedy(kCalibrateAnew);
    throw;
  }
}

/// Throws Error unless the network has one of the table's tensors.
void check_is_of(const Graph& g, const CalibrationTable& table, const CalibrationJob& job) {
  const bool knows_any = table.scales.empty() ||
                         std::any_of(table.scales.begin(), table.scales.end(),
                                     [&](const auto& entry) { return g.find_value(entry.first) != nullptr; });
  if (knows_any) return;
  Error error(ErrorCode::kInvalidArgument,
              fmt::format("{} is of another network: none of its {} tensors, such as '{}', is in this one",
                          job.calibrator->cache_name(), table.scales.size(), table.scales.begin()->first));
  throw error.set_remedy(kCalibrateAnew);
}

}  // namespace

CalibrationJob calibration_job(BuildEngine build, Runtime::State& runtime,
                               const std::shared_ptr<const Model>& network, const BuilderConfig& config) {
  const auto build_float32 = [build = std::move(build), &config](const std::shared_ptr<const Model>& wanted) {
    return build(wanted, {.optimization_level = 0, .profiles = config.profiles});
  };
  return {.network = network,
          .build_float32 = build_float32,
          .calibrator = config.calibrator.get(),
          .profiles = config.profiles,
          .pool = runtime.pool,
          .passes = runtime.options.passes,
          .warn = [&runtime](const std::string& sentence) { runtime.warn(sentence); },
          .on_progress = config.on_progress};
}

std::set<std::string> selected_names(const Model& network, const std::vector<std::string>& selectors) {
  std::set<std::string> names;
  for (const std::string& selector : selectors)
    for (const Node* n : select_nodes(const_cast<Model&>(network), selector))  // looked at alone
      for (const std::string& name : origins_of(*n)) names.insert(name);
  return names;
}

std::shared_ptr<const QuantizeOptions> quantization_for(const CalibrationJob& job,
                                                        const std::vector<std::string>& float_nodes) {
  std::set<std::string> held = selected_names(*job.network, float_nodes);
  if (is_quantized(*job.network)) return nullptr;
  if (job.calibrator == nullptr) {
    job.warn(
        "int8 is allowed, but the network has no QuantizeLinear and DequantizeLinear, and there is no "
        "calibrator: "
        "nothing is computed in 8 bits");
    return nullptr;
  }
  std::optional<CalibrationTable> table = cached_table(job);
  if (table) {
    check_is_of(*job.network->graph, *table, job);
  } else {
    table = calibrate(job);
    job.calibrator->write_cache(table->str());
  }
  auto options = std::make_shared<QuantizeOptions>();
  options->scales = std::move(table->scales);
  options->float_nodes = std::move(held);
  return options;
}

void report_quantization(const QuantizeReport& report, const CalibrationJob& job) {
  if (!report.without_scale.empty())
    job.warn(fmt::format(
        "{} has no scale for {} tensor(s), so the products that read them stay in float32: {}",
        job.calibrator->cache_name(), report.without_scale.size(), first_names(report.without_scale)));
  if (report.quantized == 0)
    job.warn("int8 is allowed, but no Conv, Gemm or MatMul of the network can be computed in 8 bits");
}

CalibrationStatistics calibration_statistics(const CalibrationJob& job) {
  const std::shared_ptr<Model> model = with_all_outputs(*job.network, job);
  remove_held_types(*model);
  const Graph& g = *model->graph;
  require(!g.outputs.empty(), ErrorCode::kInvalidArgument,
          "there is nothing to calibrate: no node of the network computes float32 numbers");
  CalibrationStatistics statistics(g, job.calibrator->algorithm(), job.calibrator->quantile());
  const std::vector<TensorInfo> inputs = wanted_inputs(g, job.profiles);
  const std::shared_ptr<Engine> engine = job.build_float32(model);
  const auto context = engine->create_execution_context();
  if (!job.profiles.empty()) context->set_optimization_profile(job.profiles.size() - 1);
  const PoolScope scope(job.pool);
  size_t sets = 0;
  while (auto batch = job.calibrator->next_batch(inputs)) {
    ++sets;
    if (job.on_progress)
      job.on_progress(
          {.phase = fmt::format("calibrating, set of inputs {}", sets), .what = {}, .done = 0, .total = 0});
    with_context([&] { return fmt::format("while calibrating, in set of inputs {}", sets); },
                 [&] {
                   std::vector<Tensor> feed;
                   for (const TensorInfo& input : inputs) {
                     const Tensor* given = find(*batch, input.name);
                     require(given != nullptr, ErrorCode::kInvalidArgument,
                             "there are no data for the input '{}'", input.name);
                     statistics.check(input.name, *given);
                     feed.push_back(*given);
                   }
                   const std::vector<Tensor> results = context->infer(feed);
                   std::vector<const Tensor*> seen;
                   for (const Tensor& t : feed) seen.push_back(&t);
                   for (const Tensor& t : results) seen.push_back(&t);
                   statistics.add(seen, job.pool->size());
                 });
  }
  return statistics;
}

CalibrationTable calibrate(const CalibrationJob& job) { return calibration_statistics(job).table(job.warn); }

}  // namespace assay
