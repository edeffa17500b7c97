// ONNX files as inputs of the targets that do whole operations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz {

/// Small models of all kinds of operators, and every file that has ever shown a fault of an operation.
std::vector<std::string> model_seeds();
/// Imports the model, changes it (mutate_model.h) and writes it; makes another where it cannot be imported.
void mutate_model_file(std::string& input, Random& random);
/// Imports the file.
std::shared_ptr<Model> model_of(std::string_view input);

/// Throws Error (kUnsupported) for a model that may rightly take long: one whose known work is large or,
/// unless `may_loop`, that has loops.
void require_quick(Model& model, bool may_loop);

/// A target with these inputs.
constexpr Target model_target(const char* name, void (*run)(std::string_view)) {
  return {.name = name,
          .run = run,
          .seeds = model_seeds,
          .mutate = mutate_model_file,
          .words = {},
          .most_bytes = 16384};
}

}  // namespace assay::fuzz
