#include "cli/options/layer_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/log.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

constexpr const char* kConstraints = "--precision-constraints";
constexpr const char* kPrecisions = "--layer-precisions";
constexpr const char* kOutputTypes = "--layer-output-types";

struct TypeName {
  std::string_view name;
  DType dtype;
};
/// ONNX's and NumPy's names, and those of TensorRT's tools.
constexpr TypeName kTypes[] = {
    {"float32", DType::kFloat32},   {"fp32", DType::kFloat32},
    {"float", DType::kFloat32},     {"float16", DType::kFloat16},
    {"fp16", DType::kFloat16},      {"half", DType::kFloat16},
    {"bfloat16", DType::kBFloat16}, {"bf16", DType::kBFloat16},
    {"int8", DType::kInt8},         {"uint8", DType::kUInt8},
    {"int32", DType::kInt32},       {"int64", DType::kInt64},
    {"bool", DType::kBool},         {"float8e4m3fn", DType::kFloat8E4M3FN},
    {"fp8", DType::kFloat8E4M3FN},  {"int4", DType::kInt4},
};

DType parse_type(const std::string& option, const std::string& entry, std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const TypeName& t : kTypes)
    if (t.name == name) return t.dtype;
  log::critical(
      ErrorCode::kInvalidArgument,
      "{}: '{}' in '{}' is not a type; float32 (fp32), float16 (fp16), bfloat16 (bf16) and int8 are some.",
      option, text, entry);
}

/// The words, or their comma-separated parts.
std::vector<std::string> entries(const std::vector<std::string>& words, bool has_commas) {
  std::vector<std::string> list;
  for (const std::string& word : words) {
    if (!has_commas) {
      list.push_back(word);
      continue;
    }
    for (size_t at = 0; at <= word.size();) {
      const size_t end = std::min(word.find(',', at), word.size());
      if (end > at) list.push_back(word.substr(at, end - at));
      at = end + 1;
    }
  }
  return list;
}

/// Splits at the last colon: names may contain colons.
LayerTypes parse_entry(const std::string& option, const std::string& entry, bool are_outputs) {
  const size_t colon = entry.rfind(':');
  if (colon == std::string::npos || colon == 0)
    log::critical(ErrorCode::kInvalidArgument,
                  "{}: Could not parse argument: {}. Expected an argument in the format: `key:value`.",
                  option, entry);
  LayerTypes wish{.layers = entry.substr(0, colon)};
  const std::string_view types = std::string_view(entry).substr(colon + 1);
  if (!are_outputs) {
    wish.precision = parse_type(option, entry, types);
    return wish;
  }
  for (size_t at = 0; at <= types.size();) {
    const size_t end = std::min(types.find('+', at), types.size());
    wish.outputs.push_back(parse_type(option, entry, types.substr(at, end - at)));
    at = end + 1;
  }
  return wish;
}

}  // namespace

std::vector<Option> layer_type_options(bool as_bench) {
  std::vector<Option> options;
  for (const char* name : {kConstraints, kPrecisions, kOutputTypes})
    options.push_back(poly::find_run_option(name)->option);
  if (as_bench) {
    options[0].names.emplace_back("--precisionConstraints");
    options[1].names.emplace_back("--layerPrecisions");
    options[2].names.emplace_back("--layerOutputTypes");
  }
  return options;
}

void read_layer_types(const ParsedArgs& args, bool as_upstream, bool as_bench, BuilderConfig& config) {
  const std::string constraints = args.text(kConstraints).value_or(as_upstream ? "none" : "obey");
  config.precision_constraints = constraints == "none"     ? PrecisionConstraints::kNone
                                 : constraints == "prefer" ? PrecisionConstraints::kPrefer
                                                           : PrecisionConstraints::kObey;
  config.skips_unknown_layers = as_upstream;
  for (const char* option : {kPrecisions, kOutputTypes})
    for (const std::string& entry : entries(args.list(option).value_or(std::vector<std::string>()), as_bench))
      config.layer_types.push_back(parse_entry(option, entry, option == kOutputTypes));
}

std::vector<IoType> read_io_types(const ParsedArgs& args) {
  constexpr const char *kSome = "--tensor-dtypes", *kAll = "--all-tensor-dtypes";
  std::vector<IoType> types;
  if (const auto all = args.text(kAll)) {
    if (args.has(kSome))
      log::warning(
          "Both --all-tensor-datatypes and --tensor-datatypes were provided. Only types in "
          "--all-tensor-datatypes "
          "will be applied.");
    return {{"*", parse_type(kAll, *all, *all)}};
  }
  for (const std::string& entry : args.list(kSome).value_or(std::vector<std::string>())) {
    const LayerTypes parsed = parse_entry(kSome, entry, /*are_outputs=*/false);
    types.push_back({parsed.layers, parsed.precision});
  }
  return types;
}

void apply_strong_types(const ParsedArgs& args, const char* shown, bool as_upstream, BuilderConfig& config) {
  if (!args.has("--strongly-typed")) return;
  std::vector<std::string> given;
  const auto drop = [&](bool& allowed, const char* name) {
    if (allowed) given.emplace_back(name);
    allowed = false;
  };
  drop(config.fp16, "float16");
  drop(config.bf16, "bfloat16");
  drop(config.int8, "int8");
  if (!config.layer_types.empty()) given.emplace_back("types of single layers");
  if (given.empty()) return;
  const std::string sentence =
      fmt::format("{} leaves all types to the network, so that {} cannot be asked for beside it", shown,
                  fmt::join(given, ", "));
  if (!as_upstream)
    log::critical(ErrorCode::kInvalidArgument,
                  "{}. Leave one of them out, or write Cast nodes into the model.", sentence);
  log::warning("{}: they are ignored, and every layer computes in the types that the network declares.",
               sentence);
  config.layer_types.clear();
}

}  // namespace assay::cli
