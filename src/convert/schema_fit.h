// What the schemas alone say of a node on its way from one version of an operator to another.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"
#include "graph/uses.h"
#include "ops/op_def.h"

namespace assay {

/// Makes a node of one version one of the other, neighbouring version, where both mean the same: attributes
/// that the other version lacks go when they have their default, defaults that differ are written out, unused
/// trailing outputs go. Returns a sentence for each thing that has no equivalent.
std::vector<std::string> fit_schema(Node& node, const OpVersion& from, const OpVersion& to,
                                    OutputIndex& outputs);

/// Inputs and outputs whose types are known against a version's schema: a sentence for each that it does not
/// allow.
std::vector<std::string> type_problems(const Node& node, const OpVersion& version);
/// An input or output has no known type, and the version allows less than the other one.
bool has_unchecked_type(const Node& node, const OpVersion& from, const OpVersion& to);

}  // namespace assay
