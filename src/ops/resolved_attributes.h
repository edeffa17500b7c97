// Attributes in the body of a local function that stand for the function's parameters.
#pragma once

#include <vector>

#include "assay/graph.h"

namespace assay {

struct FunctionCall {
  const Node* node;
  const Function* function;
};

/// While it lives, attributes that refer to the parameters of the function around have the values of the
/// call, else the function's defaults; those with neither are left out.
class ResolvedAttributes {
 public:
  /// `call` is null for a node that is in no function.
  ResolvedAttributes(Node& n, const FunctionCall* call);
  ~ResolvedAttributes();
  ResolvedAttributes(const ResolvedAttributes&) = delete;
  ResolvedAttributes& operator=(const ResolvedAttributes&) = delete;

 private:
  Node& node_;
  std::vector<Attribute> saved_;
  bool is_changed_ = false;
};

}  // namespace assay
