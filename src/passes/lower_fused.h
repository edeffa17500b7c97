// Formulas that the pass lower_fused writes and that have files of their own, and how it writes them.
#pragma once

#include <optional>

#include "passes/formula.h"

namespace assay::pass_lower_fused {

/// Epsilon of layer normalization where the node gives none.
inline constexpr double kEpsilon = 9.99999996e-13;

/// Replaces a node by a formula of its inputs.
struct Writer {
  const Node& n;
  const PassContext& context;
  Patch patch;
  Formula f;

  Writer(const Node& node, const PassContext& c)
      : n(node), context(c), patch(node), f(patch, c, node.output(0)->name()) {
    patch.remove(node);
  }
  Term in(size_t i) const { return Formula::of(n.input(i)); }
  bool has(size_t i) const { return n.input(i) != nullptr; }
  bool wants(size_t i) const { return i < n.outputs().size() && n.output(i) != nullptr; }
  Patch done(const Term& result) {
    f.give(result, n.output(0));
    return std::move(patch);
  }
};

/// Inputs of both operators called RotaryEmbedding.
struct RotaryInputs {
  size_t cosines, sines, positions;
};

/// (a, b) turned by the angle of their position: a cos - b sin, a sin + b cos. Like the next one, for nodes
/// whose inputs have known shapes; nothing where these do not fit.
std::optional<Patch> rotary(const Node& n, const PassContext& context, const RotaryInputs& inputs);

/// The sum of the embeddings of words, positions and segments, normalized.
std::optional<Patch> embedding(const Node& n, const PassContext& context);

}  // namespace assay::pass_lower_fused
