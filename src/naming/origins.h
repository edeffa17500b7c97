// Records the original names of fused and rewritten nodes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Key of Node::metadata: names of the ONNX nodes that it implements, one per line.
inline constexpr std::string_view kOriginsKey = "assay.origins";

/// Key of Node::metadata: see set_beside().
inline constexpr std::string_view kBesideKey = "assay.beside";

/// The recorded names; for a node without a record its own name, or its first output's name when it has none.
std::vector<std::string> origins_of(const Node& node);
/// Replaces the record of a node. No name may be in the list twice.
void set_origins(Node& node, const std::vector<std::string>& names);

/// For a node that a pass adds to others, such as a conversion of their operands: it is shown under their
/// names, and a tactic pinned for one of them does not apply to it.
void set_beside(Node& node);
bool is_beside(const Node& node);

/// Collects names, each once, in the order in which they come.
class Origins {
 public:
  void add(const std::vector<std::string>& names);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_set<std::string> known_;
};

/// Removes all of these records, for saving a model.
void remove_origins(Model& model);

}  // namespace assay
