#include "arbiter/trial.h"

#include <algorithm>

#include "graph/read.h"
#include "tensor/convert.h"

namespace assay {

Trial::Trial(const SuspectNode& suspect) : suspect_(suspect), op_(bind_op(suspect.node, suspect.model)) {
  if (!op_ || has_subgraph(suspect.node)) return;
  for (const Value* v : suspect.node.inputs()) {
    if (v == nullptr) {
      inputs_.emplace_back();
      continue;
    }
    const Tensor own = suspect.own(*v);
    if (!own.defined() || own.is_container()) return;
    const bool widens = op_.op->types != EvalTypes::kAsStored && is_float(own.dtype());
    inputs_.push_back(widens ? to_float64(own) : own);
  }
  const auto& outputs = suspect.node.outputs();
  output_ = static_cast<size_t>(std::find(outputs.begin(), outputs.end(), &suspect.output) - outputs.begin());
  usable_ = true;
}

Tensor Trial::evaluate(std::vector<Tensor> inputs, void (*eval)(EvalContext&), size_t output) const {
  try {
    EvalContext c(suspect_.node, *op_.op, *op_.version, std::move(inputs));
    c.ideal = true;
    (eval != nullptr ? eval : op_.version->eval)(c);
    return c.outputs().at(output);
  } catch (const Error&) {
    return {};
  }
}

double Trial::terms() const {
  EvalContext c = context();
  return static_cast<double>(op_.op->numerics.terms(c));
}

Tensor Trial::perturbed(uint64_t key) const {
  try {
    EvalContext c = context();
    op_.op->numerics.perturb(c, unit_roundoff(DType::kFloat32), key);
    return c.outputs().at(output_);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace assay
