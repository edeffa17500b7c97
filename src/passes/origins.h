// Where fused and rewritten nodes come from: names survive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Key of Node::metadata and Value::metadata: names of the ONNX nodes that it stands for, one a line.
inline constexpr std::string_view kOriginsKey = "assay.origins";

/// The recorded names; for a node without a record its own name, or its first output's name when it has none.
std::vector<std::string> origins_of(const Node& node);
/// The recorded names of a folded constant; none for one that the model brought along.
std::vector<std::string> origins_of(const Value& constant);

/// Records names that are not recorded yet, in order.
void add_origins(Metadata& metadata, const std::vector<std::string>& names);
/// Replaces the record of a node.
void set_origins(Node& node, const std::vector<std::string>& names);
/// Forgets all records: for a model that is saved.
void remove_origins(Model& model);

}  // namespace assay
