// What commands that read a model, change it and save it have in common.
#pragma once

#include <memory>
#include <string>

#include "assay/graph.h"
#include "cli/args.h"

namespace assay::cli {

/// Logs the inputs, outputs and counts of a model under a title such as `Original Model`.
void log_model(const std::string& title, const Model& model);

/// Saves the model as -o and its companions say, and logs it as `New Model`.
void save_edited_model(const ParsedArgs& args, const Model& model);

}  // namespace assay::cli
