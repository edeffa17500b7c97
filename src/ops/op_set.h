// The operators that a model may use: those of this build, and those that modules add.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay {

/// Operators may be looked up from any thread, as long as no thread adds to the set.
class OpSet {
 public:
  /// Throws Error when an operator of this domain and name exists already, or the definition has no
  /// version. `op` must live as long as the set; `owner`, if any, is kept until then.
  void add(const OpDef& op, std::shared_ptr<const void> owner = nullptr);

  /// In the order in which they were added.
  std::span<const OpDef* const> all() const { return ops_; }
  /// Null when there is none of that name. "ai.onnx" and "" are one domain.
  const OpDef* find(std::string_view domain, std::string_view name) const;
  /// The newest version of a domain in which one of its operators here was defined or changed; changes in
  /// later versions are not known. 0 for a domain without operators.
  int64_t newest_opset(std::string_view domain) const;

 private:
  std::vector<const OpDef*> ops_;
  /// By name; the chain distinguishes the few operators that share a name across domains.
  std::unordered_multimap<std::string_view, const OpDef*> by_name_;
  std::map<std::string_view, int64_t> newest_;
  std::vector<std::shared_ptr<const void>> owners_;
};

/// Those of ops.def.
const OpSet& built_in_ops();
/// A model's own set (Model::ops), else the built-in one.
const OpSet& ops_of(const Model& model);

/// The version that holds in an opset; null when the operator is newer than that, or opset is 0.
const OpVersion* version_for(const OpDef& op, int64_t opset);

}  // namespace assay
