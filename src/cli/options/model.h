// The model to work on and the shapes of its inputs.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "run/data_loader.h"

namespace assay::cli {

struct ModelOptions {
  std::string path;  ///< absolute when the file exists; empty: none was given
  std::vector<InputShape> input_shapes;
};

/// `model_file`, --model-type, --input-shapes. `is_required` makes the positional required.
void add_model_options(ArgParser& parser, bool is_required);
/// Warns when the file does not exist. Throws Error when it is no ONNX model by its name, unless --model-type
/// says so.
ModelOptions read_model_options(const ParsedArgs& args);

}  // namespace assay::cli
