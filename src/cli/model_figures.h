// The size of a model in figures, for a table of what an edit changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

struct FigureRow {
  std::string name, before, after, change;  ///< no change: empty
};
/// Totals, and the operators whose number changed, those with the largest change first.
std::vector<FigureRow> figure_rows(const ModelFigures& before, const ModelFigures& after);
std::string figures_text(const std::vector<FigureRow>& rows);

}  // namespace assay::cli
