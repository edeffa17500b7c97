#include "assay/quantize.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "assay/version.h"
#include "debug/quantization_study.h"
#include "engine/objects/calibrate.h"
#include "engine/objects/state.h"
#include "eval/part.h"
#include "graph/clone.h"
#include "naming/origins.h"
#include "poly/run_parts.h"
#include "run/calibration.h"
#include "transform/quantize_weights.h"

namespace assay::poly {
namespace {

/// Measures, and has `building` hold back what the accuracy asks for.
void study(const Runtime& runtime, const std::shared_ptr<const Model>& model,
           const QuantizeSettings& settings, EngineBuildOptions& building, Quantized& done) {
  const EngineBuildOptions given = building;
  debug::QuantizationStudy study(runtime, model, given, settings.on_progress);
  debug::QuantizationCost cost = study.measure();
  if (!settings.accuracy.empty()) study.hold_back(cost, debug::AccuracyGoal::parse(settings.accuracy));
  done.cost = debug::cost_json(cost);
  done.scales = study.scales();
  building.config.calibrator = given_scales(done.scales, "the calibration");
  for (const std::string& name : debug::held_layers(cost)) building.config.float_nodes.push_back(name);
}

}  // namespace

Quantized quantize_model(const Runtime& runtime, const std::shared_ptr<Model>& model,
                         const QuantizeSettings& settings) {
  EngineBuildOptions building = engine_building(settings.engine, settings.data);
  building.config.int8 = true;
  const std::shared_ptr<const Model> network = PrepareNetwork(model)();
  Quantized done;
  if (settings.measures_cost || !settings.accuracy.empty()) study(runtime, network, settings, building, done);
  const PreparedBuild prepared = prepare_build(network, building);
  const Builder builder(runtime);
  done.model = builder.quantized_network(prepared.network, prepared.config);
  done.summary = builder.type_summary();
  return done;
}

namespace {

/// Numbers its sets.
class CountingSource final : public assay::DataSource {
 public:
  explicit CountingSource(std::shared_ptr<assay::DataSource> source) : source_(std::move(source)) {}
  void prepare() override { source_->prepare(); }
  void begin(const std::vector<TensorInfo>& inputs) override { source_->begin(inputs); }
  std::optional<TensorList> next() override {
    std::optional<TensorList> data = source_->next();
    count_ += data ? 1 : 0;
    return data;
  }
  int64_t count() const { return count_; }

 private:
  std::shared_ptr<assay::DataSource> source_;
  int64_t count_ = 0;
};

std::string part_text(const eval::PartOf& of, const CalibrationStatistics& statistics) {
  return part_json(of, [&](JsonWriter& json) { statistics.write(json); });
}

}  // namespace

std::string calibration_part(const Runtime& runtime, const std::shared_ptr<Model>& model,
                             const QuantizeSettings& settings, int64_t first, const std::string& digest) {
  EngineBuildOptions building = engine_building(settings.engine, settings.data);
  building.config.int8 = true;
  const auto source = std::make_shared<CountingSource>(data_from_the_start(settings.data));
  building.calibration.data = [source] { return source; };
  building.calibration.cache.clear();
  const PreparedBuild prepared = prepare_build(PrepareNetwork(model)(), building);
  const CalibrationStatistics statistics = calibration_statistics(runtime, prepared.network, prepared.config);
  const eval::PartOf of{.kind = "calibration",
                        .identity = {.version = kVersion, .model_name = "model", .model_digest = digest},
                        .covered = eval::Ranges(first, first + source->count())};
  return part_text(of, statistics);
}

std::string merge_calibration_parts(const Runtime& runtime, const std::vector<std::string>& parts,
                                    std::optional<int64_t> sets) {
  require(!parts.empty(), ErrorCode::kInvalidArgument, "there are no parts of a calibration to merge");
  std::optional<eval::PartOf> of;
  std::optional<CalibrationStatistics> statistics;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("part {}", i);
    const eval::PartFile part = eval::read_part(parts[i], name);
    require(part.of.kind == "calibration", ErrorCode::kInvalidArgument, "{} is of a {}, not of a calibration",
            name, part.of.kind);
    const CalibrationStatistics own = CalibrationStatistics::read(part.content, name);
    with_context([&] { return "in " + name; },
                 [&] {
                   if (of) of->add(part.of), statistics->add(own);
                 });
    if (!of) of = part.of, statistics = own;
  }
  if (!sets) return part_text(*of, *statistics);
  const eval::Ranges missing = eval::Ranges(0, *sets).without(of->covered);
  require(missing.empty() && of->covered.count() == *sets, ErrorCode::kInvalidArgument,
          "the parts are not those of {} sets of data: they cover {}", *sets, of->covered.text());
  return statistics->table([&](const std::string& sentence) { runtime.state()->warn(sentence); }).str();
}

NarrowWeights quantize_weights(const std::shared_ptr<Model>& model, const WeightSettings& settings) {
  NarrowWeights done{.model = clone_model(*model), .kept = {}};
  const QuantizeReport report = assay::quantize_weights(
      *done.model,
      {.format = settings.uses_matmul_nbits ? WeightFormat::kMatMulNBits : WeightFormat::kDequantizeLinear,
       .block = settings.block,
       .float_nodes = selected_names(*model, settings.float_nodes)});
  remove_origins(*done.model);
  done.quantized = report.quantized;
  for (const QuantizeReport::Kept& k : report.kept) done.kept.push_back({k.node, k.reason});
  return done;
}

}  // namespace assay::poly
