// How an ONNX model is loaded, changed and saved.
#pragma once

#include <string>

#include "cli/args.h"
#include "run/model_loader.h"

namespace assay::cli {

/// ONNX Model Loading: external data, outputs to mark, float16.
void add_onnx_load_options(ArgParser& parser);
/// ONNX Shape Inference.
void add_onnx_shape_inference_options(ArgParser& parser);
/// ONNX Model Saving; `path_option` is the option that names the file.
void add_onnx_save_options(ArgParser& parser, const std::string& path_option);

/// Reads all three groups.
ModelLoaderOptions read_model_loader_options(const ParsedArgs& args, const std::string& model_path,
                                             const std::string& path_option);

}  // namespace assay::cli
