// The operators that a model may use: those of this build, and what modules add to them.
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

/// Who has one may look operators up from any thread, as long as nobody adds to it.
class OpSet {
 public:
  /// Throws Error when an operator of this domain and name is there already, or the definition has no
  /// version. `op` must live as long as the set; `owner`, if any, is kept until then.
  void add(const OpDef& op, std::shared_ptr<const void> owner = nullptr);

  /// In the order in which they came.
  std::span<const OpDef* const> all() const { return ops_; }
  /// Null when there is none of that name. "ai.onnx" and "" are one domain.
  const OpDef* find(std::string_view domain, std::string_view name) const;
  /// The newest version of a domain in which one of its operators here was defined or changed; what later
  /// versions changed is not known. 0 for a domain without operators.
  int64_t newest_opset(std::string_view domain) const;

 private:
  std::vector<const OpDef*> ops_;
  /// By name; the few operators that share a name across domains are told apart by the chain.
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
