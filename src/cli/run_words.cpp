#include "cli/run_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/error.h"
#include "base/python_repr.h"
#include "cli/options/compare_functions.h"
#include "cli/options/engine_building.h"
#include "cli/options/model.h"
#include "cli/options/runners.h"
#include "poly/compare_description.h"
#include "poly/run_json.h"

namespace assay::cli {
namespace {

using Strings = std::vector<std::string>;
using poly::RunRow;
using poly::RunSettings;

std::string number_word(const poly::Number& n) {
  return n.integer() ? std::to_string(*n.integer()) : python_float_repr(n.value());
}

std::string shape_word(const std::string& name, const Dims& dims) {
  std::string text;
  for (const Dim& d : dims)
    text += (text.empty() ? "" : ",") + (d.is_symbol() ? d.symbol() : std::to_string(d.value()));
  return fmt::format("{}:[{}]", name, text);
}

Strings shape_words(const poly::RunShapes& shapes) {
  Strings words;
  for (const auto& [name, dims] : shapes) words.push_back(shape_word(name, dims));
  return words;
}

std::string keyed(const std::string& name, const std::string& value) {
  return name.empty() ? value : name + ":" + value;
}

// ---- by the type of the member: the words of its option

Strings words(const RunRow&, bool) { return {}; }
Strings words(const RunRow&, int v) { return {std::to_string(v)}; }
Strings words(const RunRow&, int64_t v) { return {std::to_string(v)}; }
Strings words(const RunRow&, size_t v) { return {std::to_string(v)}; }
Strings words(const RunRow&, double v) { return {python_float_repr(v)}; }
Strings words(const RunRow&, const std::string& v) { return {v}; }
Strings words(const RunRow&, const std::optional<int64_t>& v) { return {std::to_string(v.value())}; }
Strings words(const RunRow& row, const std::optional<std::string>& v) {
  return v->empty() && row.option.arity == Arity::kOptional ? Strings() : Strings{*v};
}
Strings words(const RunRow&, const Strings& v) { return v; }
Strings words(const RunRow&, const std::optional<Strings>& v) { return v.value(); }
Strings words(const RunRow&, const poly::RunShapes& v) { return shape_words(v); }
Strings words(const RunRow&, const std::vector<std::pair<std::string, poly::RunRange>>& v) {
  Strings all;
  for (const auto& [name, range] : v)
    all.push_back(keyed(name, fmt::format("[{},{}]", number_word(range.low.value_or(0)),
                                          number_word(range.high.value_or(1)))));
  return all;
}
Strings words(const RunRow&, const std::map<std::string, std::string>& v) {
  Strings all;
  for (const auto& [name, value] : v) all.push_back(name + "=" + value);
  return all;
}
Strings words(const RunRow&, ReferencePrecision v) {
  return {v == ReferencePrecision::kStored ? "stored" : "float64"};
}
template <typename T>
Strings words(const RunRow& row, const T& /*v*/) {
  fail(ErrorCode::kInternal, "the words of {} mean something of their own, and nothing writes them",
       row.option.names.front());
}

/// Collects what is said.
class Line {
 public:
  Line(const RunSettings& settings, const BackendSet& backends) : s_(settings), backends_(backends) {}

  SaidSettings all() {
    RunSettings copy = s_;
    for (const poly::RunGroup& group : poly::run_groups())
      for (const RunRow& row : group.rows) by_type(row, copy);
    log();
    model();
    data();
    runners();
    session();
    engine();
    comparison();
    verdict();
    for (const RunRow* row : poly::run_members())
      if (!is_said(row->member) && poly::differs_from_default(*row, s_)) said_.unsaid.insert(row->member);
    return std::move(said_);
  }

 private:
  void say(const char* option, Strings words) { said_.options.push_back({option, std::move(words)}); }
  void say_text(const char* option, const std::string& text) {
    if (!text.empty()) say(option, {text});
  }
  void unsaid(std::string_view member) { said_.unsaid.insert(member); }
  /// True when an option expresses the member: its own, or one of another member.
  static bool is_said(std::string_view member) {
    const auto says = [&](const RunRow& row) { return row.member == member && row.has_option(); };
    for (const poly::RunGroup& group : poly::run_groups())
      if (std::any_of(group.rows.begin(), group.rows.end(), says)) return true;
    return spokesman(member) != member || member == "extensions.options";
  }

  void by_type(const RunRow& row, RunSettings& copy) {
    if (!row.has_member() || !row.has_option() || row.words == poly::RunWords::kOwn ||
        !poly::differs_from_default(row, s_))
      return;
    const Strings given = std::visit([&](const auto* member) { return words(row, *member); }, row.at(copy));
    // An empty list cannot be expressed: the option takes at least one word.
    if (given.empty() && row.option.arity == Arity::kAtLeastOne) return unsaid(row.member);
    say(row.option.names.front().c_str(), given);
  }

  void log() {
    if (!s_.log) return;
    if (!s_.log->verbosity.empty()) say("--verbosity", s_.log->verbosity);
    Strings formats;
    if (s_.log->timestamp) formats.emplace_back("timestamp");
    if (s_.log->line_info) formats.emplace_back("line-info");
    if (!s_.log->colors) formats.emplace_back("no-colors");
    if (!formats.empty()) say("--log-format", formats);
    say_text("--log-file", s_.log->file);
  }

  void model() {
    const poly::RunModel& m = s_.model;
    const std::string& path = m.network_script.empty() ? m.path : m.network_script;
    say_text("model_file", path);
    const std::string format = m.network_script.empty() ? m.format : "trt-network-script";
    if (!path.empty() && model_type_of(path) != format) say("--model-type", {format});
    outputs("--onnx-outputs", "model.outputs", m.mark_all, m.outputs);
  }

  void outputs(const char* option, std::string_view member, bool mark_all,
               const std::optional<Strings>& names) {
    if (mark_all) say(option, {"*"});
    if (names && names->empty()) unsaid(member);
    if (names && !names->empty()) say(option, *names);
  }

  void range(const std::optional<poly::RunRange>& range, const char* low, const char* high) {
    if (range && range->low) say(low, {number_word(*range->low)});
    if (range && range->high) say(high, {number_word(*range->high)});
  }

  void data() {
    range(s_.data.integer_range, "--int-min", "--int-max");
    range(s_.data.float_range, "--float-min", "--float-max");
    say_text("--data-loader-script", s_.data.script);
  }

  /// The options of a runner in Python that has a flag of its own.
  void shipped_options(const poly::RunRunner& r,
                       std::initializer_list<std::pair<const char*, const char*>> options) {
    for (const auto& [name, value] : r.options) {
      const auto it =
          std::find_if(options.begin(), options.end(), [&, n = name](const auto& o) { return n == o.first; });
      // Consequences of other options are expressed by those.
      if (it != options.end()) say_once(it->second, {value});
    }
  }
  void say_once(const char* option, const Strings& words) {
    const auto it = std::find_if(said_.options.begin(), said_.options.end(),
                                 [&](const GivenOption& g) { return g.name == option; });
    if (it == said_.options.end()) return say(option, words);
    if (it->words != words) unsaid("runners");
  }

  void runners() {
    for (const poly::RunRunner& r : s_.runners) {
      if (!r.script.empty()) {
        say("--runner-script", {r.script});
        Strings options;
        for (const auto& [name, value] : r.options) options.push_back(name + "=" + value);
        if (!options.empty()) say_once("--runner-options", options);
      } else if (r.backend == "tensorflow") {
        say("--tf", {});
        shipped_options(r, {{"outputs", "--tf-outputs"}, {"save_pb", "--save-pb"}, {"ckpt", "--ckpt"}});
      } else if (r.backend == "pytorch") {
        say("--pytorch", {});
        shipped_options(r, {{"inputs", "--pytorch-inputs"}});
      } else if (r.backend == "tensorrt") {
        say("--trt", {});
        say_once("--strict-trt", {});
      } else {
        const Backend& backend = with_context([] { return "at 'runners'"; },
                                              [&]() -> const Backend& { return backends_.get(r.backend); });
        say(flag_of(backend).c_str(), {});
      }
    }
  }

  void session() {
    if (s_.session.threads != 0) say("--threads", {std::to_string(s_.session.threads)});
    if (const auto level = s_.session.graph_optimization_level) {
      const std::string name = graph_optimization_name(*level);
      if (name.empty()) unsaid("session.graph_optimization_level");
      say_text("--graph-optimization-level", name);
    }
  }

  void engine();
  void layer_types();
  void comparison();
  void functions();
  void tolerances(const poly::CompareDescription& f);
  bool gives_tolerance() const;

  template <typename T, typename Text>
  void by_output(const char* option, const poly::ByOutput<T>& values, Text&& text) {
    Strings all;
    for (const auto& [output, value] : values.entries()) all.push_back(keyed(output, text(value)));
    if (!all.empty()) say_once(option, all);
  }

  void verdict() {
    const poly::RunVerdict& v = s_.verdict;
    const poly::RunVerdict otherwise;
    if (v.samples == v.most_samples && v.judge)
      say("--arbiter-samples", {std::to_string(v.samples)});
    else if (v.samples != otherwise.samples || v.most_samples != otherwise.most_samples)
      unsaid("verdict.samples"), unsaid("verdict.most_samples");
  }

  const RunSettings& s_;
  const BackendSet& backends_;
  SaidSettings said_;
};

void Line::engine() {
  const poly::RunEngine& e = s_.engine;
  const poly::RunEngine otherwise;
  size_t k = 0;
  for (const auto member : {&poly::RunProfile::min, &poly::RunProfile::opt, &poly::RunProfile::max}) {
    const char* option = kProfileOptions[k++];
    // The n-th use belongs to profile n.
    bool has_gap = false;
    for (const poly::RunProfile& p : e.profiles) {
      if ((p.*member).empty())
        has_gap = true;
      else if (has_gap)
        unsaid("engine.profiles");
      else
        say(option, shape_words(p.*member));
    }
  }
  if (e.calibration_algorithm != otherwise.calibration_algorithm)
    say("--calib-base-cls", {calibrator_class(e.calibration_algorithm)});
  if (e.calibration_quantile != otherwise.calibration_quantile)
    say("--quantile", {python_float_repr(e.calibration_quantile)});
  if (e.config.workspace_limit != otherwise.config.workspace_limit)
    say("--workspace", {std::to_string(e.config.workspace_limit)});
  layer_types();
  Strings types;
  for (const auto& [name, dtype] : e.tensor_types)
    types.push_back(name + ":" + std::string(dtype_name(dtype)));
  if (!types.empty()) say("--tensor-dtypes", types);
  outputs("--trt-outputs", "engine.outputs", e.mark_all, e.outputs);
  say_text("--trt-config-script", e.config_script);
  if (!e.network_postprocess_scripts.empty())
    say("--trt-network-postprocess-script", e.network_postprocess_scripts);
  say_text("--trt-config-postprocess-script", e.config_postprocess_script);
}

void Line::layer_types() {
  const BuilderConfig& c = s_.engine.config;
  if (c.precision_constraints != PrecisionConstraints::kObey)
    say("--precision-constraints",
        {c.precision_constraints == PrecisionConstraints::kNone ? "none" : "prefer"});
  Strings precisions, outputs;
  bool has_outputs = false;
  for (const LayerTypes& wish : c.layer_types) {
    std::string types;
    for (const DType t : wish.outputs) types += (types.empty() ? "" : "+") + std::string(dtype_name(t));
    const bool is_precision = wish.precision != DType::kUndefined;
    // The line has all precisions before all types of outputs, and of equals the later one applies.
    if (is_precision == !wish.outputs.empty() || (is_precision && has_outputs))
      unsaid("engine.config.layer_types");
    has_outputs = has_outputs || !is_precision;
    if (is_precision) precisions.push_back(wish.layers + ":" + std::string(dtype_name(wish.precision)));
    if (!wish.outputs.empty()) outputs.push_back(wish.layers + ":" + types);
  }
  if (!precisions.empty()) say("--layer-precisions", precisions);
  if (!outputs.empty()) say("--layer-output-types", outputs);
}

void Line::comparison() {
  for (const std::string& module : s_.extensions.modules) say("--extension", {module});
  for (const auto& [name, given] : s_.extensions.options) say(name.c_str(), given);
  if (s_.postprocess) {
    const poly::PostprocessDescription f = describe(*s_.postprocess);
    say_text("--postprocess-func-script", f.script);
    Strings top_k;
    for (const auto& [output, k] : f.top_k)
      top_k.push_back(keyed(output, fmt::format("top-{},axis={}", k.first, k.second)));
    if (!top_k.empty()) say("--postprocess", top_k);
  }
  say_text("--postprocess", s_.extensions.postprocess);
  functions();
}

void Line::functions() {
  Strings names;
  for (const poly::CompareFunc& function : s_.compare_funcs) {
    const poly::CompareDescription f = describe(function);
    if (!f.check_shapes) say_once("--no-shape-check", {});
    if (f.function == "script") {
      say("--compare-func-script", {f.script});
      if (s_.compare_funcs.size() > 1) unsaid("compare_funcs");
      continue;
    }
    if (std::find(names.begin(), names.end(), f.function) != names.end()) unsaid("compare_funcs");
    names.push_back(f.function);
    tolerances(f);
  }
  for (const std::string& of_module : s_.extensions.compare_funcs) names.push_back(of_module);
  if (s_.compare_funcs.empty() && names.empty()) unsaid("compare_funcs");
  const bool is_default = names == Strings{"simple"};
  // Giving a tolerance or naming a function implies that the comparison decides.
  if (!s_.verdict.comparison_counts && (gives_tolerance() || !is_default))
    unsaid("verdict.comparison_counts");
  if (!names.empty() && (!is_default || s_.verdict.comparison_counts)) say("--compare", names);
}

void Line::tolerances(const poly::CompareDescription& f) {
  const auto number = [](const poly::Number& n) { return number_word(n); };
  by_output("--atol", f.atol, number);
  by_output("--rtol", f.rtol, number);
  by_output("--check-error-stat", f.check_error_stat, [](const std::string& text) { return text; });
  by_output("--error-quantile", f.error_quantile, number);
  by_output("--index-tolerance", f.index_tolerance, [](int64_t n) { return std::to_string(n); });
  if (f.infinities_compare_equal) say_once("--infinities-compare-equal", {});
  if (!f.threshold.entries().empty()) by_output(threshold_option(f.function), f.threshold, number);
}

/// Whether an option is said that chooses how to compare.
bool Line::gives_tolerance() const {
  static constexpr std::string_view kChoices[] = {"--atol", "--rtol", "--check-error-stat",
                                                  "--error-quantile", "--compare-func-script"};
  return std::any_of(said_.options.begin(), said_.options.end(), [](const GivenOption& g) {
    return std::find(std::begin(kChoices), std::end(kChoices), g.name) != std::end(kChoices);
  });
}

}  // namespace

std::string_view spokesman(std::string_view member) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"model.mark_all", "model.outputs"},
      {"engine.mark_all", "engine.outputs"},
      {"extensions.compare_funcs", "compare_funcs"},
      {"extensions.postprocess", "postprocess"},
      {"verdict.comparison_counts", "compare_funcs"},
      {"verdict.most_samples", "verdict.samples"}};
  for (const auto& [known, other] : kOthers)
    if (known == member) return other;
  return member;
}

SaidSettings words_of(const RunSettings& settings, const BackendSet& backends) {
  return Line(settings, backends).all();
}

}  // namespace assay::cli
