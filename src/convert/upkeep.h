// Preserves parts of a model during a conversion: declared types, and constants that were unused before.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// "" and "ai.onnx" are one domain.
inline std::string plain_domain(std::string_view domain) { return std::string(canonical_domain(domain)); }

/// Calls visit(graph) for the graphs that are attributes of the node, not for those in them.
template <typename Visit>
void each_subgraph(const Node& n, Visit visit) {
  for (const Attribute& a : n.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) visit(**g);
    if (const auto* list = a.get_if<Attribute::Graphs>())
      for (const auto& g : *list) visit(*g);
  }
}

/// Saves the declared types of the model's values while inference changes them.
class DeclaredTypes {
 public:
  explicit DeclaredTypes(Model& model);
  void restore(Model& model);

 private:
  std::unordered_map<const Value*, Type> types_;
};

/// Removes constants that became unused. Those unused before stay.
class UnusedConstants {
 public:
  explicit UnusedConstants(Model& model);
  void remove(Model& model);

 private:
  std::unordered_map<const Graph*, std::vector<Value*>> kept_;
  std::unordered_set<const Value*> known_;
};

}  // namespace assay
