// The size of a model in figures, for a table of what an edit changed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "assay/graph.h"
#include "assay/inspect.h"

namespace assay::cli {

struct ModelFigures {
  ModelStats stats;
  std::map<std::string, int64_t> operators;
};

/// Inlines functions and infers types in the model, which must not be used afterwards. Nothing if it cannot
/// be counted.
std::optional<ModelFigures> figures_of(const std::shared_ptr<Model>& model);

/// Totals, and the operators whose number changed.
std::string before_and_after(const ModelFigures& before, const ModelFigures& after);

}  // namespace assay::cli
