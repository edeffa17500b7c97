// The order in which passes run.
#pragma once

#include <span>
#include <vector>

#include "passes/pass.h"

namespace assay {

/// What the engine cannot do without: functions inlined, old opsets rewritten. Run once per model whose types have
/// been inferred.
std::span<const PassDef* const> lowering_pipeline();

/// What holds whatever the input shapes are: constants folded, weights final. Run once per model.
std::span<const PassDef* const> canonical_pipeline();

/// For a model whose input shapes are numbers and whose types have been inferred: first everything that folds
/// because shapes are known (infer again after it) ...
std::span<const PassDef* const> specialize_pipeline();
/// ... then the idioms: nodes that together compute a known function.
std::span<const PassDef* const> idiom_pipeline();

/// For `surgeon sanitize --simplify`: what makes a model smaller without changing its results, in operators that
/// its opset has. Types have been inferred; run in turn with constant folding until nothing changes.
std::vector<const PassDef*> simplify_pipeline(int64_t opset);
/// What follows when nothing changes any more: after it, the others would not recognise what it made into one.
std::span<const PassDef* const> simplify_end_pipeline();

}  // namespace assay
