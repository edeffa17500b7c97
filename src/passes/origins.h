// Where fused and rewritten nodes come from: names survive.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Key of Node::metadata: names of the ONNX nodes that it stands for, one a line.
inline constexpr std::string_view kOriginsKey = "assay.origins";

/// The recorded names; for a node without a record its own name, or its first output's name when it has none.
std::vector<std::string> origins_of(const Node& node);
/// Replaces the record of a node. No name may be in the list twice.
void set_origins(Node& node, const std::vector<std::string>& names);

/// Collects names, each once, in the order in which they come.
class Origins {
 public:
  void add(const std::vector<std::string>& names);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_set<std::string> known_;
};

/// Forgets all records: for a model that is saved.
void remove_origins(Model& model);

}  // namespace assay
