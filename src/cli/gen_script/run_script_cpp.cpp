#include <fmt/format.h>

#include "assay/error.h"
#include "cli/gen_script/build_command.h"
#include "cli/gen_script/cpp_literal.h"
#include "cli/gen_script/run_script.h"
#include "cli/script_text.h"
#include "poly/compare_description.h"
#include "poly/run_json.h"

namespace assay::cli {
namespace {

/// Statements of the function that describes the run, under a comment for each part that has any.
class Statements {
 public:
  /// Begins this part.
  void part(std::string comment) { comment_ = std::move(comment); }
  void add(const std::string& statement) {
    if (!comment_.empty()) text_ += fmt::format("{}  // {}\n", text_.empty() ? "" : "\n", comment_);
    comment_.clear();
    text_ += "  " + statement + ";\n";
  }
  void set(std::string_view member, const std::string& value) {
    add(fmt::format("run.{} = {}", member, value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_, comment_;
};

const char* part_comment(poly::RunPart part) {
  using enum poly::RunPart;
  switch (part) {
    case kProcess:
      return "The log, and what the process may take.";
    case kExtensions:
      return "Extension modules that the command line loaded, and their options.";
    case kModel:
      return "The model.";
    case kData:
      return "Its inputs. `run.data.source` takes a function of your own.";
    case kRunners:
      return "Runners, in the order in which they run.";
    case kSession:
      return "How their sessions are made.";
    case kEngine:
      return "How the engine in TensorRT's role is built.";
    case kOrder:
      return "The order in which it all happens.";
    case kComparison:
      return "How results are compared. `CompareFunc::custom` and `PostprocessFunc::custom` take functions "
             "of your "
             "own.";
    case kVerdict:
      return "The verdict against the float64 reference. It is on by itself when that is among the runners.";
    case kOutput:
      return "What is saved.";
  }
  fail(ErrorCode::kInternal, "a part of a run without a comment");
}

using Member = std::string_view;

// ---- statements by the type of the member

void state(Statements& s, Member m, bool value) { s.set(m, value ? "true" : "false"); }
void state(Statements& s, Member m, int value) { s.set(m, cpp_integer(value)); }
void state(Statements& s, Member m, int64_t value) { s.set(m, cpp_integer(value)); }
void state(Statements& s, Member m, size_t value) { s.set(m, std::to_string(value)); }
void state(Statements& s, Member m, double value) { s.set(m, cpp_double(value)); }
void state(Statements& s, Member m, const std::string& value) { s.set(m, cpp_string(value)); }
void state(Statements& s, Member m, const std::vector<std::string>& value) {
  s.set(m, "{" + cpp_strings(value) + "}");
}
void state(Statements& s, Member m, const std::optional<std::vector<std::string>>& value) {
  s.set(m, "std::vector<std::string>{" + cpp_strings(value.value()) + "}");
}
template <typename T>
void state(Statements& s, Member m, const std::optional<T>& value) {
  state(s, m, value.value());
}

/// Members of a structure that differ from its defaults, with designators.
class Designated {
 public:
  void add(const std::string& name, const std::string& value) {
    text_ += (text_.empty() ? "." : ", .") + name + " = " + value;
  }
  void add_text(const std::string& name, const std::string& value) {
    if (!value.empty()) add(name, cpp_string(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void state(Statements& s, Member m, const poly::RunLog& log) {
  Designated d;
  if (!log.verbosity.empty()) d.add("verbosity", "{" + cpp_strings(log.verbosity) + "}");
  if (log.timestamp) d.add("timestamp", "true");
  if (log.line_info) d.add("line_info", "true");
  if (!log.colors) d.add("colors", "false");
  d.add_text("file", log.file);
  s.set(m, "RunLog{" + d.text() + "}");
}

void state(Statements& s, Member m, const std::vector<poly::RunRunner>& runners) {
  for (const poly::RunRunner& r : runners) {
    Designated d;
    d.add_text("backend", r.backend);
    d.add_text("script", r.script);
    s.add(fmt::format("run.{}.push_back({{{}}})", m, d.text()));
    for (const auto& [name, value] : r.options)
      s.add(
          fmt::format("run.{}.back().options.emplace_back({}, {})", m, cpp_string(name), cpp_string(value)));
  }
}

void state(Statements& s, Member m, const poly::RunShapes& shapes) {
  for (const auto& [name, dims] : shapes)
    s.add(fmt::format("run.{}.emplace_back({}, Dims{})", m, cpp_string(name), cpp_dims(dims)));
}

std::string number_text(const poly::Number& n) {
  return n.integer() ? cpp_integer(*n.integer()) : cpp_double(n.value());
}

std::string range_text(const poly::RunRange& range) {
  Designated d;
  if (range.low) d.add("low", number_text(*range.low));
  if (range.high) d.add("high", number_text(*range.high));
  return "RunRange{" + d.text() + "}";
}

void state(Statements& s, Member m, const std::optional<poly::RunRange>& range) {
  s.set(m, range_text(*range));
}
void state(Statements& s, Member m, const std::vector<std::pair<std::string, poly::RunRange>>& ranges) {
  for (const auto& [name, range] : ranges)
    s.add(fmt::format("run.{}.emplace_back({}, {})", m, cpp_string(name), range_text(range)));
}

void state(Statements& s, Member m, const std::vector<poly::RunProfile>& profiles) {
  for (const poly::RunProfile& p : profiles) {
    s.add(fmt::format("run.{}.emplace_back()", m));
    state(s, fmt::format("{}.back().min", m), p.min);
    state(s, fmt::format("{}.back().opt", m), p.opt);
    state(s, fmt::format("{}.back().max", m), p.max);
  }
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

void state(Statements& s, Member m, const std::vector<std::pair<std::string, DType>>& types) {
  for (const auto& [name, dtype] : types)
    s.add(fmt::format("run.{}.emplace_back({}, {})", m, cpp_string(name), cpp_dtype(dtype)));
}

void state(Statements& s, Member m, const std::vector<LayerTypes>& wishes) {
  for (const LayerTypes& wish : wishes) {
    std::string outputs;
    for (const DType t : wish.outputs) outputs += (outputs.empty() ? "" : ", ") + cpp_dtype(t);
    Designated d;
    d.add("layers", cpp_string(wish.layers));
    if (wish.precision != DType::kUndefined) d.add("precision", cpp_dtype(wish.precision));
    if (!wish.outputs.empty()) d.add("outputs", "{" + outputs + "}");
    s.add(fmt::format("run.{}.push_back({{{}}})", m, d.text()));
  }
}

void state(Statements& s, Member m, const std::map<std::string, std::string>& entries) {
  for (const auto& [name, value] : entries)
    s.add(fmt::format("run.{}[{}] = {}", m, cpp_string(name), cpp_string(value)));
}

void state(Statements& s, Member m,
           const std::vector<std::pair<std::string, std::vector<std::string>>>& options) {
  for (const auto& [name, words] : options)
    s.add(fmt::format("run.{}.emplace_back({}, std::vector<std::string>{{{}}})", m, cpp_string(name),
                      cpp_strings(words)));
}

void state(Statements& s, Member m, ReferencePrecision value) {
  s.set(m, value == ReferencePrecision::kStored ? "ReferencePrecision::kStored"
                                                : "ReferencePrecision::kFloat64");
}

void state(Statements& s, Member m, PrecisionConstraints value) {
  s.set(m, value == PrecisionConstraints::kNone     ? "PrecisionConstraints::kNone"
           : value == PrecisionConstraints::kPrefer ? "PrecisionConstraints::kPrefer"
                                                    : "PrecisionConstraints::kObey");
}

void state(Statements& s, Member m, CalibrationAlgorithm value) {
  s.set(m, value == CalibrationAlgorithm::kLegacy             ? "CalibrationAlgorithm::kLegacy"
           : value == CalibrationAlgorithm::kEntropy          ? "CalibrationAlgorithm::kEntropy"
           : value == CalibrationAlgorithm::kMinMax           ? "CalibrationAlgorithm::kMinMax"
           : value == CalibrationAlgorithm::kMeanSquaredError ? "CalibrationAlgorithm::kMeanSquaredError"
                                                              : "CalibrationAlgorithm::kEntropy2");
}

// ---- functions

/// A value for all outputs by itself, others with the names of the outputs.
template <typename T, typename Text>
std::string by_output(const poly::ByOutput<T>& values, Text&& text) {
  if (values.entries().size() == 1 && values.entries().front().first.empty())
    return text(values.entries().front().second);
  std::string list;
  for (const auto& [output, value] : values.entries())
    list += fmt::format("{}{{{}, {}}}", list.empty() ? "" : ", ", cpp_string(output), text(value));
  return "{" + list + "}";
}

std::string function_text(const poly::CompareDescription& f) {
  if (f.function == "script") return fmt::format("CompareFunc::script({})", cpp_string(f.script));
  if (f.function == "indices")
    return fmt::format("CompareFunc::indices({})",
                       f.index_tolerance.entries().empty() ? "" : by_output(f.index_tolerance, cpp_integer));
  if (f.function != "simple") {
    std::string text = f.threshold.entries().empty() ? "" : by_output(f.threshold, number_text);
    if (!f.check_shapes) text = (text.empty() ? "{}" : text) + ", false";
    return fmt::format("CompareFunc::{}({})", f.function, text);
  }
  Designated d;
  if (!f.atol.entries().empty()) d.add("atol", by_output(f.atol, number_text));
  if (!f.rtol.entries().empty()) d.add("rtol", by_output(f.rtol, number_text));
  if (!f.check_error_stat.entries().empty())
    d.add("check_error_stat",
          by_output(f.check_error_stat, [](const std::string& e) { return cpp_string(e); }));
  if (!f.error_quantile.entries().empty()) d.add("error_quantile", by_output(f.error_quantile, number_text));
  if (!f.check_shapes) d.add("check_shapes", "false");
  if (f.infinities_compare_equal) d.add("infinities_compare_equal", "true");
  return d.text().empty() ? "CompareFunc::simple()" : "CompareFunc::simple({" + d.text() + "})";
}

void state(Statements& s, Member m, const std::vector<poly::CompareFunc>& functions) {
  std::string list;
  for (const poly::CompareFunc& f : functions) list += "\n      " + function_text(describe(f)) + ",";
  s.set(m, "{" + list + "\n  }");
}

void state(Statements& s, Member m, const std::optional<poly::PostprocessFunc>& function) {
  const poly::PostprocessDescription f = describe(function.value());
  if (!f.script.empty()) return s.set(m, fmt::format("PostprocessFunc::script({})", cpp_string(f.script)));
  std::string list;
  for (const auto& [output, k] : f.top_k)
    list +=
        fmt::format("{}{{{}, {{{}, {}}}}}", list.empty() ? "" : ", ", cpp_string(output), k.first, k.second);
  s.set(m, "PostprocessFunc::top_k({" + list + "})");
}

}  // namespace

std::string run_script_cpp(const RunLine& line) {
  Statements s;
  poly::RunSettings settings = line.settings;
  const char* comment = nullptr;
  for (const poly::RunRow* row : poly::run_members()) {
    // Comparison settings are always written, so that users can change them.
    if (!poly::differs_from_default(*row, settings) && row->member != "compare_funcs") continue;
    if (const char* own = part_comment(row->part); own != comment) s.part(comment = own);
    std::visit([&](const auto* value) { state(s, row->member, *value); }, row->at(settings));
  }
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
