// The local functions of a model by name.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// An index for Model::find_function(), for lookups at every node. The model's functions must neither change
/// nor move during its lifetime.
class FunctionIndex {
 public:
  explicit FunctionIndex(const Model& model);

  /// The function that a node calls; null when it calls none.
  const Function* called(const Node& node) const { return find(node.domain, node.op_type, node.overload); }
  const Function* find(std::string_view domain, std::string_view name, std::string_view overload) const;

 private:
  struct Key {
    std::string_view domain, name, overload;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const std::hash<std::string_view> hash;
      return (hash(key.name) * 31 + hash(key.domain)) * 31 + hash(key.overload);
    }
  };
  std::unordered_map<Key, const Function*, Hash> by_name_;
};

}  // namespace assay
