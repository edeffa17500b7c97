// Shared parts of the tests of constant folding.
#pragma once

#include <gtest/gtest.h>

#include "assay/edit.h"
#include "assay/fold.h"

namespace assay {

using Ints = std::vector<int64_t>;

class FoldTest : public testing::Test {
 protected:
  FoldTest() {
    model.opsets = {{"", 17}};
    g.name = "g";
  }
  Value* value(const std::string& name) {
    Value* v = g.lookup(name);
    return v != nullptr ? v : g.add_value(name);
  }
  Value* floats(const std::string& name, std::vector<float> v) {
    return g.add_constant(name, Tensor::vector<float>(v));
  }
  Value* ints(const std::string& name, Ints v) { return g.add_constant(name, Tensor::vector<int64_t>(v)); }
  Value* input(const std::string& name, DType dtype, Dims dims) {
    return g.add_input(name, Type::tensor(dtype, std::move(dims)));
  }
  Value* node(const std::string& op, std::vector<Value*> inputs, const std::string& output,
              AttributeList attributes = {}) {
    Value* y = value(output);
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), output + "_node");
    return y;
  }
  static std::vector<std::string> ops(const Graph& graph) {
    std::vector<std::string> list;
    for (const auto& n : graph.nodes()) list.push_back(n->op_type);
    return list;
  }
  /// The remaining operators after cleanup().
  std::vector<std::string> folded_ops(const FoldOptions& options = {}) {
    report = fold_constants(model, options);
    cleanup(model);
    return ops(g);
  }
  using Ops = std::vector<std::string>;

  Model model;
  Graph& g = *model.graph;
  FoldReport report;
};

inline std::vector<float> floats_of(const Value* v) {
  const Tensor stored = v->tensor().aligned();
  const auto s = stored.span<float>();
  return {s.begin(), s.end()};
}

}  // namespace assay
