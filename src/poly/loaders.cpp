#include "assay/loaders.h"

#include <algorithm>

#include "assay/backend_set.h"
#include "assay/edit.h"
#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/diagnostics.h"
#include "base/mapped_file.h"
#include "engine/specialize/plan_builder.h"
#include "graph/clone.h"
#include "graph/export.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "ops/op_set.h"
#include "passes/pass_list.h"
#include "surgeon/extract.h"
#include "surgeon/upper_bound.h"
#include "transform/convert_to_float16.h"
#include "transform/mark_outputs.h"

namespace assay::poly {
namespace {

std::shared_ptr<Model> parse(Bytes bytes, const ImportOptions& options) {
  const auto kept = std::make_shared<const Bytes>(std::move(bytes));
  return parse_model(*kept, kept, "a model in memory", options);
}

/// The model form for engines and backends that do not read files.
std::shared_ptr<Model> inferred(std::shared_ptr<Model> model) {
  if (!model->functions.empty()) pass_inline_functions::def.run(*model);
  assay::infer_shapes(*model);
  return model;
}

std::vector<CutTensor> cut(const std::vector<CutPoint>& points, const std::vector<Value*>& own) {
  std::vector<CutTensor> list;
  for (const CutPoint& p : points) list.push_back({p.name, p.dims, p.dtype});
  if (points.empty())
    for (const Value* v : own) list.push_back({v->name(), {}, {}});
  return list;
}

}  // namespace

Bytes BytesFromPath::operator()() const { return Bytes(MappedFile::open(path_)->bytes()); }

Bytes SaveBytes::operator()() const {
  Bytes bytes = bytes_();
  AtomicFile file(path_);
  file.write(bytes);
  file.commit();
  return bytes;
}

std::shared_ptr<Model> OnnxFromPath::operator()() const { return load_model(path_, options_); }
std::shared_ptr<Model> OnnxFromBytes::operator()() const { return parse(bytes_(), options_); }

std::shared_ptr<Model> ModelLoaderBase::copy() const { return clone_model(*model_()); }

std::shared_ptr<Model> ModifyOutputs::operator()() const {
  std::shared_ptr<Model> model = copy();
  if (outputs_.mark_all)
    mark_all_outputs(*model);
  else if (outputs_.outputs)
    mark_outputs(*model, *outputs_.outputs);
  if (outputs_.exclude_outputs) unmark_outputs(*model, *outputs_.exclude_outputs);
  return model;
}

std::shared_ptr<Model> ConvertToFp16::operator()() const {
  std::shared_ptr<Model> model = copy();
  assay::infer_shapes(*model);
  convert_to_float16(*model);
  return model;
}

std::shared_ptr<Model> FoldConstants::operator()() const {
  std::shared_ptr<Model> model = copy();
  assay::fold_constants(*model, options_);
  cleanup(*model);
  return model;
}

std::shared_ptr<Model> InferShapes::operator()() const {
  std::shared_ptr<Model> model = copy();
  assay::infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
  return model;
}

std::shared_ptr<Model> SetUpperBound::operator()() const {
  std::shared_ptr<Model> model = copy();
  set_upper_bounds(*model, bounds_);
  return model;
}

std::shared_ptr<Model> ExtractSubgraph::operator()() const {
  std::shared_ptr<Model> model = copy();
  Graph& graph = *model->graph;
  extract(graph, cut(inputs_, graph.inputs), cut(outputs_, graph.outputs));
  return model;
}

std::shared_ptr<Model> SaveOnnx::operator()() const {
  std::shared_ptr<Model> model = model_();
  save_model(*model, path_, options_);
  return model;
}

Bytes BytesFromOnnx::operator()() const { return serialize_model(*model_()); }

std::shared_ptr<Session> SessionFromOnnx::operator()() const {
  const Backend& backend = built_in_backends().get(backend_);
  const std::string reason = backend.probe(options_);
  require(reason.empty(), ErrorCode::kUnsupported, "{} cannot be used: {}", backend_, reason);
  std::shared_ptr<Model> model = model_();
  // A backend that reads files could read the one with
  // exactly this model, but that is unknown here.
  if (!backend.reads_files) model = inferred(clone_model(*model));
  return backend.open({.model = model, .path = {}}, options_);
}

Network CreateNetwork::operator()() const {
  auto network = std::make_shared<Model>();
  network->opsets = {{.domain = "", .version = ops_of(*network).newest_opset("")}};
  return network;
}

Network NetworkFromOnnxPath::operator()() const { return inferred(load_model(path_)); }
Network NetworkFromOnnxBytes::operator()() const { return inferred(parse(bytes_(), {})); }

Network PrepareNetwork::operator()() const { return inferred(copy()); }

Network PostprocessNetwork::operator()() const {
  Network network = copy();
  change_(network);
  return network;
}

Profile& Profile::add(std::string input, Shape min, Shape opt, Shape max) {
  shapes_.emplace_back(std::move(input), ShapeTuple{std::move(min), std::move(opt), std::move(max)});
  return *this;
}

Profile& Profile::fill_defaults(const Model& network, int64_t extent) {
  for (const Value* input : network.graph->inputs) {
    if (std::any_of(shapes_.begin(), shapes_.end(), [&](const auto& s) { return s.first == input->name(); }))
      continue;
    if (!input->type.is_tensor()) continue;
    require(input->type.has_shape(), ErrorCode::kInvalidArgument,
            "the rank of the input '{}' is not known: add() its shapes", input->name());
    if (known_shape(*input->type.dims)) continue;
    std::vector<int64_t> dims;
    for (const Dim& d : *input->type.dims) dims.push_back(d.is_known() ? d.value() : extent);
    add(input->name(), Shape(dims), Shape(dims), Shape(dims));
  }
  return *this;
}

OptimizationProfile Profile::profile() const {
  OptimizationProfile profile;
  for (const auto& [input, shape] : shapes_) profile.set_shape(input, shape.min, shape.opt, shape.max);
  return profile;
}

Config CreateConfig::operator()() const {
  Config config;
  config.builder.fp16 = fp16;
  config.builder.bf16 = bf16;
  config.builder.int8 = int8;
  config.builder.calibrator = calibrator;
  config.builder.layer_types = layer_types;
  config.builder.precision_constraints = precision_constraints;
  if (calibrator != nullptr && !int8)
    diag::warning(
        "A calibrator was provided to CreateConfig, but int8 mode was not enabled: it is not used.");
  // A higher one is the highest, as in upstream.
  config.builder.optimization_level =
      std::min(builder_optimization_level, BuilderConfig::kMaxOptimizationLevel);
  config.builder.use_timing_cache_only = error_on_timing_cache_miss;
  if (workspace_limit) config.builder.workspace_limit = *workspace_limit;
  config.builder.is_refittable = refittable;
  config.builder.strips_weights = strip_plan;
  config.builder.algorithm_selector = algorithm_selector;
  config.load_timing_cache = load_timing_cache;
  config.save_timing_cache = save_timing_cache;
  config.profiles = profiles;
  return config;
}

Config PostprocessConfig::operator()() const {
  Config config = config_();
  change_(config);
  return config;
}

std::shared_ptr<Runtime> LoadRuntime::operator()() const { return std::make_shared<Runtime>(options_); }

std::shared_ptr<Engine> EngineFromNetwork::operator()() const {
  const Network network = PrepareNetwork(network_)();
  const std::shared_ptr<Runtime> runtime = runtime_();
  Config config = config_();
  if (config.profiles.empty()) config.profiles.emplace_back();
  for (Profile& p : config.profiles) {
    p.fill_defaults(*network);
    if (!p.shapes().empty()) config.builder.profiles.push_back(p.profile());
  }
  if (config.builder.timing_cache == nullptr)
    config.builder.timing_cache = std::make_shared<TimingCache>(runtime->timing_environment());
  if (!config.load_timing_cache.empty()) config.builder.timing_cache->load(config.load_timing_cache);
  std::shared_ptr<Engine> engine = Builder(*runtime).build_engine(network, config.builder);
  if (!config.save_timing_cache.empty()) config.builder.timing_cache->save(config.save_timing_cache);
  return engine;
}

Bytes EngineBytesFromNetwork::operator()() const { return build_()->serialize(); }
std::shared_ptr<Engine> EngineFromBytes::operator()() const {
  return runtime_()->deserialize_engine(bytes_());
}
std::shared_ptr<Engine> EngineFromPath::operator()() const { return runtime_()->load_engine(path_); }
Bytes BytesFromEngine::operator()() const { return engine_()->serialize(); }

std::shared_ptr<Engine> SaveEngine::operator()() const {
  std::shared_ptr<Engine> engine = engine_();
  engine->save(path_);
  return engine;
}

std::shared_ptr<Model> OnnxLikeFromNetwork::operator()() const {
  const engine::PlanBuilder builder(*inferred(copy()), engine::default_config(0));
  return clone_model(builder.canonical());
}

}  // namespace assay::poly
