// Parts of a model as plain data, one at a time.
#pragma once

#include "inspect/value_descriptions.h"

namespace assay {

class ModelDescriber {
 public:
  explicit ModelDescriber(const DescribeOptions& options) : options_(options) {}

  bool has_initializers() const { return options_.layers || options_.weights; }
  bool has_nodes() const { return options_.layers; }

  /// Without initializers and nodes, which are only counted.
  GraphDescription outline(const Graph& g, int depth);
  InitializerDescription initializer(const Value& v);
  NodeDescription node(const Node& n, int depth);
  GraphDescription graph(const Graph& g, int depth);
  /// Descriptions of values are not shared with later ones.
  void forget() { values_ = {}; }

 private:
  const DescribeOptions& options_;
  ValueDescriptions values_;
};

/// Name, opsets and `shown`.
ModelDescription describe_title(const Model& model, const DescribeOptions& options);

}  // namespace assay
