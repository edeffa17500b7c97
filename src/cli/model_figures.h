// The size of a model in figures, for a table of what an edit changed.
#pragma once

#include <functional>
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

/// Inlines functions and infers types in the model that `load` gives, which must not be used afterwards. Logs
/// nothing. Nothing if the model cannot be loaded or counted.
std::optional<ModelFigures> figures_of(const std::function<std::shared_ptr<Model>()>& load);

/// Totals, and the operators whose number changed.
std::string before_and_after(const ModelFigures& before, const ModelFigures& after);

}  // namespace assay::cli
