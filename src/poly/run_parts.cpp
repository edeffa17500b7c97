#include "poly/run_parts.h"

#include <algorithm>

#include "assay/error.h"
#include "engine/objects/state.h"
#include "run/script_parts.h"
#include "script/data_script.h"
#include "script/network_script.h"

namespace assay::poly {
namespace {

std::vector<InputShape> input_shapes(const RunShapes& shapes) {
  std::vector<InputShape> list;
  for (const auto& [name, dims] : shapes) list.push_back({.name = name, .dims = dims});
  return list;
}

PythonValue python_value(const Number& n) {
  return n.integer() ? PythonValue(*n.integer()) : PythonValue(n.value());
}

ValueRange value_range(const RunRange& range) {
  ValueRange r;
  if (range.low) r.low = python_value(*range.low);
  if (range.high) r.high = python_value(*range.high);
  return r;
}

/// A program's data source, read iteration by iteration.
class OwnData final : public assay::DataSource {
 public:
  explicit OwnData(poly::DataSource source) : source_(std::move(source)) {}
  void begin(const std::vector<TensorInfo>& inputs) override { inputs_ = inputs; }
  std::optional<TensorList> next() override {
    std::optional<FeedDict> feed = source_(inputs_);
    if (!feed) return std::nullopt;
    TensorList list;
    for (auto& [name, tensor] : *feed) list.push_back({name, std::move(tensor)});
    return list;
  }

 private:
  poly::DataSource source_;
  std::vector<TensorInfo> inputs_;
};

constexpr const char* kForeignFormats[] = {"frozen", "keras", "ckpt", "saved", "torch"};

}  // namespace

EngineBuildOptions engine_building(const RunEngine& engine, const RunData& data) {
  EngineBuildOptions options;
  options.config = engine.config;
  if (!engine.config_script.empty())
    options.configure = script_config(script::parse_reference(engine.config_script, script::kConfigFunction));
  for (const std::string& script : engine.network_postprocess_scripts)
    options.change_network.push_back(
        script_network_change(script::parse_reference(script, script::kNetworkPostprocessFunction)));
  if (!engine.config_postprocess_script.empty())
    options.change_config = script_config_change(
        script::parse_reference(engine.config_postprocess_script, script::kConfigPostprocessFunction));
  for (const RunProfile& p : engine.profiles)
    options.profiles.push_back(
        {.min = input_shapes(p.min), .opt = input_shapes(p.opt), .max = input_shapes(p.max)});
  options.input_shapes = input_shapes(data.shapes);
  options.calibration = {.cache = engine.calibration_cache,
                         .algorithm = engine.calibration_algorithm,
                         .quantile = engine.calibration_quantile,
                         .data = [data] { return data_from_the_start(data); },
                         .is_random = !data.source && data.script.empty() && data.load_inputs.empty()};
  options.mark_all = engine.mark_all;
  options.outputs = engine.outputs;
  options.exclude_outputs = engine.exclude_outputs;
  options.output_layer_types = engine.output_layer_types;
  for (const auto& [name, dtype] : engine.tensor_types) options.io_types.push_back({name, dtype});
  options.load_timing_cache = engine.load_timing_cache;
  options.save_timing_cache = engine.save_timing_cache;
  options.save_tactics = engine.save_tactics;
  options.load_tactics = engine.load_tactics;
  options.save_engine = engine.save_engine;
  options.profile = engine.profile;
  options.explain = engine.explain;
  return options;
}

namespace {

/// By the rules under which it was built.
NarrowTypes types_of(const Engine& engine) {
  const engine::SavedRules& rules = engine.state().saved.rules;
  NarrowTypes types{.float16 = rules.precisions.float16,
                    .bfloat16 = rules.precisions.bfloat16,
                    .int8 = rules.quantization != nullptr};
  if (types.int8) {
    types.scales = rules.quantization->scales;
    types.float_nodes = rules.quantization->float_nodes;
    types.known_levels = rules.types.tensors.empty();
  }
  return types;
}

}  // namespace

std::shared_ptr<const NarrowTypes> set_engine(const EngineBuildOptions& building, SessionOptions& session) {
  auto types = std::make_shared<NarrowTypes>(NarrowTypes{
      .float16 = building.config.fp16, .bfloat16 = building.config.bf16, .int8 = building.config.int8});
  session.build_engine = [building, types](const Runtime& runtime,
                                           const std::shared_ptr<const Model>& network) {
    std::shared_ptr<Engine> engine = build_engine(runtime, network, building);
    *types = types_of(*engine);
    return engine;
  };
  session.save_engine = building.save_engine;
  session.profile = building.profile;
  return types;
}

ModelLoaderOptions model_loader_options(const RunModel& model) {
  ModelLoaderOptions options;
  options.path = model.path;
  options.is_plan = model.format == "engine";
  if (std::find(std::begin(kForeignFormats), std::end(kForeignFormats), model.format) !=
      std::end(kForeignFormats))
    options.foreign_format = model.format;
  require(model.format == "onnx" || options.is_plan || !options.foreign_format.empty(),
          ErrorCode::kInvalidArgument,
          "'{}' is no format of models; there are: onnx, engine, frozen, keras, ckpt, saved, torch",
          model.format);
  if (!model.network_script.empty()) {
    const script::Reference reference =
        script::parse_reference(model.network_script, script::kNetworkFunction);
    if (options.path.empty()) options.path = reference.path;
    options.make = script_network(reference);
  }
  options.import = model.import;
  options.infer_shapes = model.infer_shapes;
  options.mark_all = model.mark_all;
  options.outputs = model.outputs;
  options.output_types = model.output_types;
  options.exclude_outputs = model.exclude_outputs;
  options.convert_to_fp16 = model.convert_to_fp16;
  for (const auto& edit : model.edits)
    options.edits.emplace_back([edit](const std::shared_ptr<Model>& m) {
      Network same = m;
      edit(same);
      require(same == m, ErrorCode::kInvalidArgument,
              "an edit of the model changes the model that it is given, it does not replace it");
    });
  options.save = {.path = model.save_path,
                  .external_data_path = model.save_external_data,
                  .external_data_threshold = model.external_data_threshold,
                  .one_file_per_tensor = model.one_file_per_tensor};
  return options;
}

DataLoaderOptions random_data_options(const RunData& data) {
  DataLoaderOptions options;
  options.seed = data.seed;
  options.iterations = data.iterations;
  options.shapes = input_shapes(data.shapes);
  for (const auto& [name, range] : data.ranges) options.ranges.emplace_back(name, value_range(range));
  if (data.integer_range) options.integer_range = value_range(*data.integer_range);
  if (data.float_range) options.float_range = value_range(*data.float_range);
  return options;
}

std::shared_ptr<assay::DataSource> own_data(const RunData& data) {
  if (data.source) return std::make_shared<OwnData>(data.source);
  if (data.script.empty()) return nullptr;
  return script_data(script::parse_reference(data.script, script::DataScript::kDefaultFunction));
}

std::shared_ptr<assay::DataSource> data_from_the_start(const RunData& data) {
  if (auto own = own_data(data)) return own;
  if (!data.load_inputs.empty()) return saved_data(data.load_inputs);
  return random_data(random_data_options(data));
}

}  // namespace assay::poly
