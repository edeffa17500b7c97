#include <fmt/format.h>
#include <sstream>

#include "assay/error.h"
#include "base/log.h"
#include "cli/gen_script/build_command.h"
#include "cli/gen_script/carried_options.h"
#include "cli/gen_script/cpp_literal.h"
#include "cli/gen_script/run_script.h"
#include "cli/script_text.h"
#include "cli/values.h"
#include "compare/indices.h"
#include "compare/metrics.h"
#include "compare/postprocess.h"
#include "compare/simple.h"
#include "extension/functions.h"
#include "script/compare_script.h"
#include "script/data_script.h"
#include "script/network_script.h"
#include "script/postprocess_script.h"
#include "script/reference.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

/// Statements of the function that describes the run, under a comment for each part that has any.
class Statements {
 public:
  /// What follows belongs to this part.
  void part(std::string comment) { comment_ = std::move(comment); }
  void add(const std::string& statement) {
    if (!comment_.empty()) text_ += fmt::format("{}  // {}\n", text_.empty() ? "" : "\n", comment_);
    comment_.clear();
    text_ += "  " + statement + ";\n";
  }
  void set(const char* member, const std::string& value) { add(fmt::format("run.{} = {}", member, value)); }
  void set_text(const char* member, const std::string& text) {
    if (!text.empty()) set(member, cpp_string(text));
  }
  void set_texts(const char* member, const Words& texts) {
    if (!texts.empty()) set(member, "{" + cpp_strings(texts) + "}");
  }
  void set_texts(const char* member, const std::optional<Words>& texts) {
    if (texts) set(member, "std::vector<std::string>{" + cpp_strings(*texts) + "}");
  }
  void set_true(const char* member, bool value) {
    if (value) set(member, "true");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_, comment_;
};

/// FILE:FUNCTION of a script option.
std::string script_of(const ParsedArgs& args, const char* option, const char* default_function) {
  const auto text = args.text(option);
  return text ? script::parse_reference(*text, default_function).str() : std::string();
}

// ---- the process

const char* level_name(log::Severity severity) {
  switch (severity) {
    case log::Severity::kUltraVerbose:
      return "ULTRA_VERBOSE";
    case log::Severity::kSuperVerbose:
      return "SUPER_VERBOSE";
    case log::Severity::kExtraVerbose:
      return "EXTRA_VERBOSE";
    case log::Severity::kVerbose:
      return "VERBOSE";
    case log::Severity::kInfo:
      return "INFO";
    case log::Severity::kStart:
      return "START";
    case log::Severity::kFinish:
      return "FINISH";
    case log::Severity::kWarning:
      return "WARNING";
    case log::Severity::kError:
      return "ERROR";
    case log::Severity::kCritical:
      return "CRITICAL";
  }
  fail(ErrorCode::kInternal, "a severity without a name");
}

Words verbosity_of(const ParsedArgs& args) {
  if (args.has("--silent")) return {"CRITICAL"};
  Words levels;
  if (args.has("-v") || args.has("-q"))
    levels.emplace_back(level_name(log::severity_from_counts(args.count("-v"), args.count("-q"))));
  for (const std::string& value : args.list("--verbosity").value_or(Words())) levels.push_back(value);
  return levels;
}

void describe_process(const RunLine& line, Statements& s) {
  const ParsedArgs& args = line.args;
  s.part("The log, and what the process may take.");
  std::string log;
  const auto add = [&](const std::string& member) { log += (log.empty() ? "" : ", ") + member; };
  if (const Words levels = verbosity_of(args); !levels.empty())
    add(".verbosity = {" + cpp_strings(levels) + "}");
  for (const std::string& format : args.list("--log-format").value_or(Words())) {
    if (format == "timestamp") add(".timestamp = true");
    if (format == "line-info") add(".line_info = true");
    if (format == "no-colors") add(".colors = false");
  }
  if (const auto file = args.text("--log-file")) add(".file = " + cpp_string(*file));
  if (!log.empty()) s.set("log", "RunLog{" + log + "}");
  if (const auto bytes = args.text("--memory-limit"))
    s.set("memory_limit", cpp_integer(parse_byte_count(*bytes)));
}

/// A module that only brings runners takes part when one of them, or one of its options, is given.
bool takes_part(const extension::Extension& module, const ParsedArgs& args) {
  if (!module.operators().empty() || !module.passes().empty() || !module.tactics().empty() ||
      !module.loaders().empty() || !module.postprocesses().empty() || !module.comparisons().empty())
    return true;
  std::string names;
  for (const AssayRunner& r : module.runners()) names += fmt::format(" {}", r.option);
  for (const AssayOptionGroup& g : module.option_groups())
    for (uint64_t i = 0; i < g.option_count; ++i) names += fmt::format(" {}", g.options[i]->names);
  std::istringstream words(names);
  for (std::string word; words >> word;)
    if (args.declares(word) && args.has(word)) return true;
  return false;
}

void describe_extensions(const RunLine& line, Statements& s) {
  s.part("Extension modules that the command line loaded, and their options.");
  Words modules;
  for (const auto& module : line.registries.extensions)
    if (takes_part(*module, line.args)) modules.push_back(module->info().path);
  s.set_texts("extensions.modules", modules);
  for (const GivenOption& given : line.args.occurrences())
    if (is_module_option(line.registries, given.name))
      s.add(fmt::format("run.extensions.options.emplace_back({}, std::vector<std::string>{{{}}})",
                        cpp_string(given.name), cpp_strings(given.words)));
}

// ---- model and data

void describe_model(const RunLine& line, Statements& s) {
  const ModelLoaderOptions& m = line.options.model;
  s.part("The model.");
  s.set_text("model.path", m.path);
  if (m.is_plan) s.set("model.format", "\"engine\"");
  if (!m.foreign_format.empty()) s.set_text("model.format", m.foreign_format);
  if (!line.model.network_script.empty())
    s.set_text(
        "model.network_script",
        script::parse_reference(line.model.network_script,
                                line.args.text("--trt-network-func-name").value_or(script::kNetworkFunction))
            .str());
  s.set_text("model.import.external_data_dir", m.import.external_data_dir);
  s.set_true("model.import.ignore_external_data", m.import.ignore_external_data);
  s.set_true("model.infer_shapes", m.infer_shapes);
  s.set_true("model.mark_all", m.mark_all);
  s.set_texts("model.outputs", m.outputs);
  s.set_texts("model.output_types", m.output_types);
  s.set_texts("model.exclude_outputs", m.exclude_outputs);
  s.set_true("model.convert_to_fp16", m.convert_to_fp16);
  s.set_text("model.save_path", m.save.path);
  if (m.save.external_data_path) s.set("model.save_external_data", cpp_string(*m.save.external_data_path));
  if (m.save.external_data_threshold)
    s.set("model.external_data_threshold", cpp_integer(*m.save.external_data_threshold));
  s.set_true("model.one_file_per_tensor", m.save.one_file_per_tensor);
}

void describe_shapes(const char* member, const std::vector<InputShape>& shapes, Statements& s) {
  for (const InputShape& shape : shapes)
    s.add(fmt::format("{}.emplace_back({}, Dims{})", member, cpp_string(shape.name), cpp_dims(shape.dims)));
}

std::string bound(const PythonValue& value) {
  return value.is_int() ? cpp_integer(value.as_int()) : cpp_double(value.as_double());
}

std::string range_text(const ValueRange& range) {
  std::string text;
  if (range.low) text = ".low = " + bound(*range.low);
  if (range.high) text += (text.empty() ? "" : ", ") + (".high = " + bound(*range.high));
  return "RunRange{" + text + "}";
}

void describe_data(const RunLine& line, Statements& s) {
  const DataLoaderOptions& d = line.options.data;
  s.part("Its inputs. `run.data.source` takes a function of your own.");
  if (d.seed != 1) s.set("data.seed", cpp_integer(d.seed));
  if (d.iterations != 1) s.set("data.iterations", cpp_integer(d.iterations));
  describe_shapes("run.data.shapes", d.shapes, s);
  for (const auto& [name, range] : d.ranges)
    s.add(fmt::format("run.data.ranges.emplace_back({}, {})", cpp_string(name), range_text(range)));
  if (d.integer_range) s.set("data.integer_range", range_text(*d.integer_range));
  if (d.float_range) s.set("data.float_range", range_text(*d.float_range));
  s.set_texts("data.load_inputs", line.options.load_inputs);
  const std::string function =
      line.args.text("--data-loader-func-name").value_or(script::DataScript::kDefaultFunction);
  s.set_text("data.script", script_of(line.args, "--data-loader-script", function.c_str()));
}

// ---- runners

void describe_runner(const poly::RunRunner& runner, Statements& s) {
  const std::string text = runner.backend.empty() ? ".script = " + cpp_string(runner.script)
                                                  : ".backend = " + cpp_string(runner.backend);
  s.add("run.runners.push_back({" + text + "})");
  for (const auto& [name, value] : runner.options)
    s.add(
        fmt::format("run.runners.back().options.emplace_back({}, {})", cpp_string(name), cpp_string(value)));
}

void describe_runners(const RunLine& line, Statements& s) {
  const SessionOptions& o = line.options.session;
  s.part("Runners, in the order in which they run.");
  for (const poly::RunRunner& r : line.runners) describe_runner(r, s);
  s.part("How their sessions are made.");
  if (o.threads != 0) s.set("session.threads", cpp_integer(o.threads));
  if (o.reference_precision == ReferencePrecision::kStored)
    s.set("session.reference_precision", "ReferencePrecision::kStored");
  s.set_texts("session.providers", o.providers);
  s.set_text("session.library", o.library);
  s.set_texts("session.custom_ops", o.custom_ops);
  if (o.graph_optimization_level)
    s.set("session.graph_optimization_level", cpp_integer(*o.graph_optimization_level));
}

void describe_profiles(const RunLine& line, Statements& s) {
  for (const ProfileShapes& p : line.building.profiles) {
    s.add("run.engine.profiles.emplace_back()");
    describe_shapes("run.engine.profiles.back().min", p.min, s);
    describe_shapes("run.engine.profiles.back().opt", p.opt, s);
    describe_shapes("run.engine.profiles.back().max", p.max, s);
  }
}

/// Null for the default.
const char* algorithm_cpp(CalibrationAlgorithm algorithm) {
  switch (algorithm) {
    case CalibrationAlgorithm::kLegacy:
      return "CalibrationAlgorithm::kLegacy";
    case CalibrationAlgorithm::kEntropy:
      return "CalibrationAlgorithm::kEntropy";
    case CalibrationAlgorithm::kMinMax:
      return "CalibrationAlgorithm::kMinMax";
    case CalibrationAlgorithm::kEntropy2:
      return nullptr;
  }
  return nullptr;
}

std::string cpp_dtype(DType t) {
  std::string name(dtype_name(t));
  for (const auto& [begin, capital] :
       {std::pair("float", "Float"), std::pair("bfloat", "BFloat"), std::pair("uint", "UInt"),
        std::pair("int", "Int"), std::pair("bool", "Bool")})
    if (name.starts_with(begin)) {
      name.replace(0, std::string_view(begin).size(), capital);
      break;
    }
  return "DType::k" + name;
}

void describe_layer_types(const BuilderConfig& c, Statements& s) {
  if (c.layer_types.empty()) return;
  if (c.precision_constraints != PrecisionConstraints::kObey)
    s.set("engine.config.precision_constraints", c.precision_constraints == PrecisionConstraints::kNone
                                                     ? "PrecisionConstraints::kNone"
                                                     : "PrecisionConstraints::kPrefer");
  s.set_true("engine.config.skips_unknown_layers", c.skips_unknown_layers);
  for (const LayerTypes& wish : c.layer_types) {
    std::string outputs;
    for (const DType t : wish.outputs) outputs += (outputs.empty() ? "" : ", ") + cpp_dtype(t);
    s.add(wish.outputs.empty()
              ? fmt::format("run.engine.config.layer_types.push_back({{.layers = {}, .precision = {}}})",
                            cpp_string(wish.layers), cpp_dtype(wish.precision))
              : fmt::format("run.engine.config.layer_types.push_back({{.layers = {}, .outputs = {{{}}}}})",
                            cpp_string(wish.layers), outputs));
  }
}

void describe_engine(const RunLine& line, Statements& s) {
  const EngineBuildOptions& b = line.building;
  const BuilderConfig& c = b.config;
  const BuilderConfig otherwise;
  s.part("How the engine in TensorRT's role is built.");
  describe_profiles(line, s);
  if (c.optimization_level != otherwise.optimization_level)
    s.set("engine.config.optimization_level", cpp_integer(c.optimization_level));
  s.set_true("engine.config.fp16", c.fp16);
  s.set_true("engine.config.bf16", c.bf16);
  s.set_true("engine.config.int8", c.int8);
  s.set_text("engine.calibration_cache", b.calibration.cache);
  if (const char* algorithm = algorithm_cpp(b.calibration.algorithm))
    s.set("engine.calibration_algorithm", algorithm);
  if (b.calibration.quantile != CalibrationOptions().quantile)
    s.set("engine.calibration_quantile", cpp_double(b.calibration.quantile));
  s.set_true("engine.config.is_refittable", c.is_refittable);
  s.set_true("engine.config.strips_weights", c.strips_weights);
  s.set_true("engine.config.use_timing_cache_only", c.use_timing_cache_only);
  if (c.workspace_limit != otherwise.workspace_limit)
    s.set("engine.config.workspace_limit", cpp_integer(c.workspace_limit));
  s.set_texts("engine.config.disabled_tactics", c.disabled_tactics);
  for (const auto& [node, tactic] : c.pinned_tactics)
    s.add(fmt::format("run.engine.config.pinned_tactics[{}] = {}", cpp_string(node), cpp_string(tactic)));
  describe_layer_types(c, s);
  s.set_texts("engine.config.disabled_passes", c.disabled_passes);
  if (c.max_edits != otherwise.max_edits) s.set("engine.config.max_edits", cpp_integer(c.max_edits));
  s.set_true("engine.config.verify_passes", c.verify_passes);
  const std::string function = line.args.text("--trt-config-func-name").value_or(script::kConfigFunction);
  s.set_text("engine.config_script", script_of(line.args, "--trt-config-script", function.c_str()));
  std::vector<std::string> changes;
  for (const std::string& script :
       line.args.list("--trt-network-postprocess-script").value_or(std::vector<std::string>()))
    changes.push_back(script::parse_reference(script, script::kNetworkPostprocessFunction).str());
  s.set_texts("engine.network_postprocess_scripts", changes);
  s.set_text("engine.config_postprocess_script",
             script_of(line.args, "--trt-config-postprocess-script", script::kConfigPostprocessFunction));
  s.set_true("engine.mark_all", b.mark_all);
  s.set_texts("engine.outputs", b.outputs);
  s.set_texts("engine.exclude_outputs", b.exclude_outputs);
  s.set_texts("engine.output_layer_types", b.output_layer_types);
  for (const IoType& t : b.io_types)
    s.add(
        fmt::format("run.engine.tensor_types.emplace_back({}, {})", cpp_string(t.name), cpp_dtype(t.dtype)));
  s.set_text("engine.load_timing_cache", b.load_timing_cache);
  s.set_text("engine.save_timing_cache", b.save_timing_cache);
  s.set_text("engine.load_tactics", b.load_tactics);
  s.set_text("engine.save_tactics", b.save_tactics);
  s.set_text("engine.save_engine", b.save_engine);
  if (b.profile != 0) s.set("engine.profile", cpp_integer(static_cast<int64_t>(b.profile)));
  s.set_true("engine.explain", b.explain);
}

// ---- comparison

/// A value for all outputs by itself, others with the names of the outputs.
template <typename T, typename Text>
std::string by_output(const PerOutput<T>& values, Text&& text) {
  if (values.entries().size() == 1 && values.entries().front().first.empty())
    return text(values.entries().front().second);
  std::string list;
  for (const auto& [output, value] : values.entries())
    list += fmt::format("{}{{{}, {}}}", list.empty() ? "" : ", ", cpp_string(output), text(value));
  return "{" + list + "}";
}

std::string simple_text(const SimpleOptions& o) {
  std::string text;
  const auto add = [&](const std::string& member) { text += (text.empty() ? "" : ", ") + member; };
  if (!o.atol.empty()) add(".atol = " + by_output(o.atol, cpp_number));
  if (!o.rtol.empty()) add(".rtol = " + by_output(o.rtol, cpp_number));
  if (!o.check_error_stat.empty())
    add(".check_error_stat = " +
        by_output(o.check_error_stat, [](ErrorStat e) { return cpp_string(error_stat_name(e)); }));
  if (!o.error_quantile.empty()) add(".error_quantile = " + by_output(o.error_quantile, cpp_double));
  if (!o.check_shapes) add(".check_shapes = false");
  if (o.infinities_compare_equal) add(".infinities_compare_equal = true");
  return text.empty() ? "CompareFunc::simple()" : "CompareFunc::simple({" + text + "})";
}

std::string metric_text(const MetricComparison& metric) {
  const MetricOptions& o = metric.options();
  const char* name = metric.function() == CompareFunction::kL2                 ? "l2"
                     : metric.function() == CompareFunction::kCosineSimilarity ? "cosine_similarity"
                     : metric.function() == CompareFunction::kPsnr             ? "psnr"
                     : metric.function() == CompareFunction::kSnr              ? "snr"
                                                                               : "perceptual_metrics";
  std::string text = o.threshold.empty() ? "" : by_output(o.threshold, cpp_number);
  if (!o.check_shapes) text = (text.empty() ? "{}" : text) + ", false";
  return fmt::format("CompareFunc::{}({})", name, text);
}

/// Of what no program has.
[[noreturn]] void refuse(const char* what) {
  log::critical(ErrorCode::kUnsupported,
                "--gen-script: {} cannot be put into a C++ program. A Python script has every option: "
                "--gen-script FILE.py.",
                what);
}

std::string comparison_text(const RunLine& line, const Comparison& comparison) {
  if (const auto* simple = dynamic_cast<const SimpleComparison*>(&comparison))
    return simple_text(simple->options());
  if (const auto* metric = dynamic_cast<const MetricComparison*>(&comparison)) return metric_text(*metric);
  if (const auto* indices = dynamic_cast<const IndicesComparison*>(&comparison))
    return fmt::format("CompareFunc::indices({})", indices->index_tolerance().empty()
                                                       ? ""
                                                       : by_output(indices->index_tolerance(), cpp_integer));
  if (!line.args.has("--compare-func-script")) refuse("a function of --compare");
  return fmt::format(
      "CompareFunc::script({})",
      cpp_string(script_of(line.args, "--compare-func-script", script::CompareScript::kDefaultFunction)));
}

std::string postprocess_text(const RunLine& line) {
  if (line.args.has("--postprocess-func-script"))
    return fmt::format("PostprocessFunc::script({})",
                       cpp_string(script_of(line.args, "--postprocess-func-script",
                                            script::PostprocessScript::kDefaultFunction)));
  const auto* top_k = dynamic_cast<const TopKPostprocess*>(line.options.postprocess.get());
  if (top_k == nullptr) refuse("a function of --postprocess");
  std::string list;
  for (const auto& [output, k] : top_k->top_k().entries())
    list += fmt::format("{}{{{}, {{{}, {}}}}}", list.empty() ? "" : ", ", cpp_string(output), k.k, k.axis);
  return "PostprocessFunc::top_k({" + list + "})";
}

void describe_comparison(const RunLine& line, Statements& s) {
  const RunOptions& o = line.options;
  s.part(
      "How results are compared. `CompareFunc::custom` and `PostprocessFunc::custom` take functions of your "
      "own.");
  s.set_texts("load_outputs", o.load_outputs);
  const extension::Modules modules = line.registries.extensions;
  if (o.postprocess != nullptr && extension::find_postprocess(modules, o.postprocess->name()) != nullptr)
    s.set("extensions.postprocess", cpp_string(o.postprocess->name()));
  else if (o.postprocess != nullptr)
    s.set("postprocess", postprocess_text(line));
  std::string list;
  std::vector<std::string> of_modules;
  for (const auto& f : o.functions)
    if (f->function() == CompareFunction::kCustom &&
        extension::find_comparison(modules, f->label()) != nullptr)
      of_modules.push_back(f->label());
    else
      list += "\n      " + comparison_text(line, *f) + ",";
  s.set_texts("extensions.compare_funcs", of_modules);
  s.set("compare_funcs", "{" + list + "\n  }");
  s.set_true("validate", o.validate);
  s.set_true("fail_fast", o.fail_fast);
  s.set_true("check_average", o.check_average);
  s.part("The verdict against the float64 reference. It is on by itself when that is among the runners.");
  s.set_true("verdict.judge", line.args.has("--arbiter") || line.args.has("--arbiter-samples"));
  const ArbiterOptions otherwise;
  if (o.arbiter.samples != otherwise.samples) s.set("verdict.samples", cpp_integer(o.arbiter.samples));
  if (o.arbiter.most_samples != otherwise.most_samples)
    s.set("verdict.most_samples", cpp_integer(o.arbiter.most_samples));
  if (!o.trace) s.set("verdict.trace", "false");
  s.set_texts("verdict.no_excuses", o.arbiter.no_excuses);
  s.set_true("verdict.partial", o.partial);
  s.set_true("verdict.comparison_counts", o.comparison_chosen);
}

void describe_order(const RunLine& line, Statements& s) {
  const RunOptions& o = line.options;
  s.part("The order in which it all happens.");
  s.set_true("sequential_runners", o.sequential_runners);
  if (o.warm_up != 0) s.set("warm_up", cpp_integer(o.warm_up));
  s.set_true("use_subprocess", o.use_subprocess);
}

void describe_saving(const RunLine& line, Statements& s) {
  const RunOptions& o = line.options;
  s.part("What is saved.");
  s.set_text("save.inputs", o.save_inputs);
  s.set_text("save.outputs", o.save_outputs);
  s.set_text("save.input_blobs", o.save_input_blobs);
  s.set_text("save.accuracy_results", o.save_accuracy_results);
  s.set_text("save.verdict", o.save_verdict);
  s.set_text("save.heatmaps", line.args.text("--save-heatmaps").value_or(""));
  s.set_text("save.error_plots", line.args.text("--save-error-metrics-plot").value_or(""));
}

}  // namespace

std::string run_script_cpp(const RunLine& line) {
  refuse_uncarried(line.args, line.registries);
  Statements s;
  describe_process(line, s);
  describe_extensions(line, s);
  describe_model(line, s);
  describe_data(line, s);
  describe_runners(line, s);
  describe_engine(line, s);
  describe_order(line, s);
  describe_comparison(line, s);
  describe_saving(line, s);
  return fmt::format(
      "// {0}\n"
      "// Made by: {1}\n"
      "//\n"
      "{2}"
      "// It ends with the exit codes of `assay run`: 0 when all is well, 1 when something differs or fails, "
      "3 when the verdict\n"
      "// is unclear. <assay/run.h> says what else can be set.\n"
      "#include <assay/run.h>\n"
      "\n"
      "#include <cstdint>\n"
      "#include <limits>\n"
      "#include <string>\n"
      "#include <vector>\n"
      "\n"
      "using namespace assay;\n"
      "using namespace assay::poly;\n"
      "\n"
      "static void describe(RunSettings& run) {{\n"
      "{3}"
      "}}\n"
      "\n"
      "int main(int argc, char** argv) {{ return run_main(argc, argv, describe); }}\n",
      in_one_line(what_it_does(line)), in_one_line(line.invocation.command_line),
      build_command(line.args.text("--gen").value()), s.text());
}

}  // namespace assay::cli
