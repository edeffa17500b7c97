// Nodes that break their operator's schema in one place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay::gate {

/// One way to use an operator wrongly.
struct Misuse {
  std::string what;
  std::vector<Tensor> inputs;  ///< constants; undefined: an empty name
  size_t outputs = 1;
  AttributeList attributes;
};

/// Every way: no inputs, one, too few, too many, one left out or of a type that the schema does not allow, no
/// outputs, too many, and attributes that are missing, unknown or of another kind. What the schema happens to
/// allow is left out.
std::vector<Misuse> misuses(const OpDef& op, const OpVersion& version);

/// The name of the node in question.
inline constexpr const char* kNode = "the_node";

/// Where the node stands.
enum class Place : uint8_t { kGraph, kFunction, kBranch };
inline constexpr Place kPlaces[] = {Place::kGraph, Place::kFunction, Place::kBranch};

/// A model with that node, whose inputs are constants, and whose outputs (Identity of them where they are
/// inside) the model gives.
std::shared_ptr<Model> model_of(const OpDef& op, const OpVersion& version, const Misuse& misuse, Place place);

}  // namespace assay::gate
