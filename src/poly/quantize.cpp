#include "assay/quantize.h"

#include "assay/error.h"
#include "debug/quantization_study.h"
#include "engine/objects/calibrate.h"
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
