// Options for loading, changing and saving an ONNX model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/run.h"
#include "cli/args.h"
#include "cli/options/model.h"
#include "run/model_loader.h"

namespace assay::cli {

/// ONNX Model Loading: external data, float16 and, with `can_change_outputs`, outputs to mark.
OptionGroup& add_onnx_load_options(ArgParser& parser, bool can_change_outputs = true);
/// ONNX Shape Inference.
enum class InferenceOptions : uint8_t {
  kOff,          ///< off unless --shape-inference is given
  kOffFallback,  ///< the same, with --force-fallback-shape-inference
  kOnFallback,   ///< on unless --no-shape-inference is given, with --force-fallback-shape-inference
};
void add_onnx_shape_inference_options(ArgParser& parser, InferenceOptions kind = InferenceOptions::kOff);
/// ONNX Model Saving, with --save-onnx.
void add_onnx_save_options(ArgParser& parser);
/// The same with -o/--output. If it is optional, nothing is written without it.
inline constexpr const char* kOutputOption = "-o";
void add_onnx_output_options(ArgParser& parser, bool is_required = true);

ModelSaveOptions read_onnx_save_options(const ParsedArgs& args, const std::string& path_option);

/// True when the words of an option for outputs mean every tensor: `*`, or the deprecated `mark all`, which
/// logs a warning.
bool means_all_tensors(const std::optional<std::vector<std::string>>& words);

/// The words of an option for outputs, where the command has it: every tensor, or these.
void read_outputs(const ParsedArgs& args, const char* option, bool& mark_all,
                  std::optional<std::vector<std::string>>& outputs);

/// The part of a run. `given`: what read_model_options() made of the line. Throws Error.
void read_model_settings(const ParsedArgs& args, const ModelOptions& given, poly::RunSettings& settings);
/// Reads all three groups, those of --save-onnx. `given`: what read_model_options() made of the line. `ops`:
/// the operators that nodes may be.
ModelLoaderOptions read_model_loader_options(const ParsedArgs& args, const ModelOptions& given,
                                             std::shared_ptr<const OpSet> ops);

/// For commands that inspect a model: logs that it is loaded, and loads it as the first two groups say (the
/// second may be absent). Nodes stay in the order of the file. Throws Error naming the file.
std::shared_ptr<Model> load_onnx_model(const ParsedArgs& args, const std::string& path,
                                       std::shared_ptr<const OpSet> ops);
/// The same in two steps, for commands that change the model before its types: the first leaves --fp-to-fp16
/// to the second.
std::shared_ptr<Model> load_unconverted_model(const ParsedArgs& args, const std::string& path,
                                              std::shared_ptr<const OpSet> ops);
void convert_loaded_model(const ParsedArgs& args, Model& model);

}  // namespace assay::cli
