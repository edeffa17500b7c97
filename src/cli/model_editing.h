// Shared parts of commands that read, change and save a model.
#pragma once

#include <memory>
#include <string>

#include "assay/error.h"
#include "assay/graph.h"
#include "base/log.h"
#include "cli/args.h"
#include "graph/count_nodes.h"

namespace assay::cli {

/// Logs the inputs, outputs and counts of a model under a title such as `Original Model`.
void log_model(const std::string& title, const Model& model);

/// A tensor as GraphSurgeon prints a Variable.
std::string variable_text(const Value& v);

/// Runs a step on the model of a file. An unexpected failure is logged as critical with the file's name and
/// ends the command (log::LoggedError); expected ones propagate.
template <typename Step>
void edit(const std::string& path, Step step) {
  try {
    step();
  } catch (const ExpectedError&) {
    throw;
  } catch (Error& e) {
    e.add_context(file_place(path));
    log::critical(e.code(), "{}", e.what());
  }
}

/// Saves the model according to -o and related options, and logs it as `New Model`.
void save_edited_model(const ParsedArgs& args, const Model& model);

}  // namespace assay::cli
