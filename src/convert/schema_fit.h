// Conversion of a node between versions of an operator by their schemas alone.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"
#include "graph/uses.h"
#include "ops/op_def.h"

namespace assay {

/// Converts a node between neighbouring versions of the same meaning: removes attributes with default values
/// that the other version lacks, writes out defaults that differ, removes unused trailing outputs. Returns a
/// sentence for each thing that has no equivalent.
std::vector<std::string> fit_schema(Node& node, const OpVersion& from, const OpVersion& to,
                                    OutputIndex& outputs);

/// Checks inputs and outputs of known type against a version's schema: a sentence for each that it does not
/// allow.
std::vector<std::string> type_problems(const Node& node, const OpVersion& version);
/// An input or output has no known type, and the version allows less than the other one.
bool has_unchecked_type(const Node& node, const OpVersion& from, const OpVersion& to);

}  // namespace assay
