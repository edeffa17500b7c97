#include "cli/quantizing.h"

#include <algorithm>
#include <optional>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "debug/quantization_study.h"
#include "engine/objects/calibrate.h"
#include "graph/clone.h"
#include "naming/origins.h"
#include "run/calibration.h"
#include "transform/quantize_weights.h"

namespace assay::cli {
namespace {

using debug::AccuracyGoal;
using debug::QuantizationCost;
using debug::QuantizationStudy;

/// Layers of a table on the terminal.
constexpr size_t kMostShown = 20;

/// The model with weights in 4 bits: for an engine in the operator that it runs from them.
std::shared_ptr<const Model> with_narrow_weights(const ParsedArgs& args, const Model& model,
                                                 bool is_for_engine,
                                                 const std::vector<std::string>& float_nodes) {
  const std::shared_ptr<Model> narrow = clone_model(model);
  WeightQuantizeOptions options{
      .block = args.integer("--weight-block").value_or(WeightQuantizeOptions::kDefaultBlock),
      .float_nodes = selected_names(model, float_nodes)};
  if (is_for_engine || args.text("--weight-format") == "matmul-nbits")
    options.format = WeightFormat::kMatMulNBits;
  options.rounds_rows = args.has("--round-rows");
  options.shares_embeddings = is_for_engine;
  const QuantizeReport report = quantize_weights(*narrow, options);
  log::info("{} product(s) have weights of 4 bits; {} with constant weights stay as they are.",
            report.quantized, report.kept.size());
  for (const QuantizeReport::Kept& kept : report.kept)
    log::verbose("Not in 4 bits: {}: {}", kept.node, kept.reason);
  if (report.quantized == 0)
    log::warning("--int4 changes nothing: it concerns no MatMul and no Gemm of the model.");
  if (!is_for_engine) remove_origins(*narrow);
  return narrow;
}

bool wants_study(const ParsedArgs& args) {
  return args.has("--accuracy-report") || args.has("--accuracy-target");
}

/// A study of a model, and the options for what is built by it.
class Studied {
 public:
  Studied(const ParsedArgs& args, const Runtime& runtime, const std::shared_ptr<const Model>& model,
          const EngineBuildOptions& given)
      : args_(args),
        given_(given),
        building_(given),
        study_(runtime, model, given_, [this](const std::string& what) { line_.show(what); }) {
    if (const auto target = args.text("--accuracy-target")) goal_ = AccuracyGoal::parse(*target);
    cost_ = study_.measure();
    if (goal_) study_.hold_back(cost_, *goal_);
    line_.clear();
    building_.config.calibrator = given_scales(study_.scales(), "the calibration");
    hold();
  }

  const EngineBuildOptions& building() const { return building_; }

  /// False: the engine does not meet the target, so that building() now holds more layers back.
  bool is_met_by(const std::shared_ptr<Engine>& engine) {
    if (!goal_) return true;
    cost_.answer = study_.accuracy_of(engine);
    line_.clear();
    if (goal_->is_met(cost_.answer)) return true;
    if (!QuantizationStudy::hold_more(cost_, std::max<size_t>(1, debug::held_layers(cost_).size() / 4)))
      log::critical(ErrorCode::kInvalidArgument,
                    "--accuracy-target: not even float32 in all {} layers meets {}: it gives {}.",
                    cost_.layers.size(), goal_->str(), cost_.answer.str());
    hold();
    return false;
  }

  void report() const {
    log::info("{}", debug::cost_text(cost_, kMostShown));
    const auto path = args_.text("--accuracy-report");
    if (!path) return;
    AtomicFile file(*path);
    file.write(path->ends_with(".json")  ? debug::cost_json(cost_)
               : path->ends_with(".csv") ? debug::cost_csv(cost_)
                                         : debug::cost_text(cost_, cost_.layers.size()) + "\n");
    file.commit();
    log::info("Saving what each layer costs to {}", *path);
  }

 private:
  void hold() {
    building_.config.float_nodes = given_.config.float_nodes;
    for (const std::string& name : debug::held_layers(cost_)) building_.config.float_nodes.push_back(name);
  }

  const ParsedArgs& args_;
  const EngineBuildOptions& given_;
  EngineBuildOptions building_;
  ProgressLine line_;
  QuantizationStudy study_;
  QuantizationCost cost_;
  std::optional<AccuracyGoal> goal_;
};

}  // namespace

std::vector<Option> quantizing_options() {
  return {
      {.names = {"--accuracy-report"},
       .help = "With --int8: what each layer costs, over the data, as a table in this file (.json, .csv, or "
               "text): its share of the outputs' error, the signal to noise of its own result, what is "
               "saturated, and the time that it gains.",
       .metavar = "FILE"},
      {.names = {"--accuracy-target"},
       .help =
           "With --int8: hold those layers in float32 that cost most, until the outputs are so exact over "
           "the data: 30dB (signal to noise), abs:0.001, rel:0.01.",
       .metavar = "ACCURACY"},
      {.names = {"--symmetric"},
       .help = "With --int8 and an ONNX model: write what is multiplied as int8 with a zero point of 0, the "
               "only form that TensorRT reads. Default: uint8, with all 256 steps for what does not go far "
               "below zero, such as the results of a ReLU, as an engine has it.",
       .arity = Arity::kNone},
      {.names = {"--int4"},
       .help = "Store the weights of MatMul and Gemm in 4 bits, with a scale for each block; everything is "
               "computed in floating point. --float-nodes names those that stay.",
       .arity = Arity::kNone},
      {.names = {"--weight-format"},
       .help =
           "How an ONNX model holds the weights of --int4: a DequantizeLinear in blocks (opset 21) before "
           "the product, or com.microsoft.MatMulNBits in its place. Default: dequantize-linear.",
       .choices = {"dequantize-linear", "matmul-nbits"}},
      {.names = {"--weight-block"},
       .help = "With --int4: how many weights share a scale, a power of two from 16 to 4096. Default: 32.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--round-rows"},
       .help = "With --int4: what is multiplied by these weights may be rounded to 8 bits, block by block "
               "(accuracy_level 4 of MatMulNBits): faster, and less exact.",
       .arity = Arity::kNone},
  };
}

std::shared_ptr<const Model> quantized_model(const ParsedArgs& args, const Runtime& runtime,
                                             const std::shared_ptr<const Model>& model,
                                             const EngineBuildOptions& given) {
  EngineBuildOptions building = given;
  building.config.symmetric_int8 = args.has("--symmetric");
  if (!building.config.int8) return with_narrow_weights(args, *model, false, building.config.float_nodes);
  if (!wants_study(args)) return quantize_model(runtime, model, building);
  const Studied studied(args, runtime, model, building);
  std::shared_ptr<const Model> made = quantize_model(runtime, model, studied.building());
  studied.report();
  return made;
}

std::shared_ptr<Engine> engine_of(const ParsedArgs& args, const Runtime& runtime,
                                  const std::shared_ptr<const Model>& model,
                                  const EngineBuildOptions& building) {
  if (args.has("--int4"))
    return build_engine(runtime, with_narrow_weights(args, *model, true, building.config.float_nodes),
                        building);
  if (!wants_study(args)) return build_engine(runtime, model, building);
  Studied studied(args, runtime, model, building);
  std::shared_ptr<Engine> engine = build_engine(runtime, model, studied.building());
  while (!studied.is_met_by(engine)) engine = build_engine(runtime, model, studied.building());
  studied.report();
  return engine;
}

}  // namespace assay::cli
