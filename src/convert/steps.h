// The lines of steps.def and expansions.def: conversions between versions of an operator, and replacements of
// operators that a version lacks.
#pragma once

#include <span>
#include <string_view>

#include "ops/op_def.h"

namespace assay {

class Rewrite;

/// The conversion of nodes over a step. Whatever schemas can express (attributes that one version lacks and
/// that have their default, defaults that changed, numbers of inputs and outputs, types) is done after the
/// adapter by schema_fit.h, so an adapter handles only the rest.
struct Adapter {
  std::string_view name;     ///< as in steps.def
  std::string_view summary;  ///< the change
  /// Rewrites a node of the older version for the newer one, or the other way round; null: nothing to do.
  /// Throws NoEquivalent.
  void (*up)(Rewrite&) = nullptr;
  void (*down)(Rewrite&) = nullptr;
};

/// The step to the operator's version `since`, from the one before. Null: same meaning where both versions'
/// schemas allow it.
struct Step {
  int since;
  const Adapter* adapter;
};

struct OpSteps {
  std::string_view domain, name;
  std::span<const Step> steps;  ///< oldest first
};

/// The replacement of an operator before its first version.
struct Expansion {
  std::string_view domain, name;
  int opset;  ///< the new nodes are written for that opset
  std::string_view summary;
  void (*expand)(Rewrite&);
};

#define ASSAY_ADAPTER(name) extern const Adapter adapter_##name;
#include "convert/adapters.def"
#undef ASSAY_ADAPTER

#define ASSAY_EXPANSION(domain, name) extern const Expansion expansion_##domain##_##name;
#include "convert/expansions.def"
#undef ASSAY_EXPANSION

std::span<const OpSteps> all_steps();
std::span<const Expansion* const> all_expansions();

/// The step to that version of the operator. Throws Error (kInternal) when steps.def has no line for it.
const Step& step_to(const OpDef& op, int since);
/// Null when there is none.
const Expansion* find_expansion(const OpDef& op);

}  // namespace assay
