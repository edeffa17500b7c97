// For tests of this module: results of a backend, with or without a fault, and the verdict on them.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "arbiter/arbiter.h"
#include "reference/evaluate.h"
#include "reference/reference_test_util.h"

namespace assay {

/// Every value of the model as computed by a backend that rounds after each node. `fault` may change a value.
using Fault = std::function<void(const std::string& name, Tensor& t)>;

inline StoredTensorList results_of(const Model& model, const std::vector<Tensor>& feed,
                                   const Fault& fault = {}) {
  std::unordered_map<const Value*, Tensor> values;
  for (size_t i = 0; i < feed.size(); ++i) values[model.graph->inputs[i]] = feed[i];
  StoredTensorList list;
  for (const auto& n : model.graph->nodes()) {
    std::vector<Tensor> inputs;
    for (const Value* v : n->inputs())
      inputs.push_back(v == nullptr ? Tensor() : v->is_constant() ? v->tensor().aligned() : values.at(v));
    const std::vector<Tensor> outputs = evaluate_node(*n, require_op(*n, model), std::move(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (n->output(i) == nullptr) continue;
      Tensor t = outputs[i];
      if (fault) fault(n->output(i)->name(), t);
      values[n->output(i)] = t;
      list.push_back({n->output(i)->name(), t});
    }
  }
  return list;
}

inline Arbitration judge_without(const std::vector<std::string>& excuses,
                                 const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                                 const StoredTensorList& results) {
  const ArbiterCase c{"runner", &results};
  return arbitrate(model, feed, std::span(&c, 1), {.no_excuses = excuses});
}

/// Expects that a verdict with excuses differs without them and their alternatives.
inline Arbitration judge(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                         const StoredTensorList& results) {
  Arbitration found = judge_without({}, model, feed, results);
  for (size_t i = 0; i < found.outputs.size(); ++i) {
    std::vector<std::string> off;
    for (ArbiterVerdict v = found.outputs[i]; v.verdict == found.outputs[i].verdict;
         v = judge_without(off, model, feed, results).outputs.at(i)) {
      EXPECT_FALSE(!off.empty() && v.excuses.empty()) << v.output << " does not need " << off.back();
      if (v.excuses.empty()) break;
      off.insert(off.end(), v.excuses.begin(), v.excuses.end());
    }
  }
  return found;
}

}  // namespace assay
