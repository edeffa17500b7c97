#include "engine/tactics/recurrent/recurrent_functions.h"

#include "ops/rnn/activation.h"

namespace assay::engine {

using kernels::RecurrentKind;

RecurrentFunctionFields recurrent_functions(const Problem& p, RecurrentKind kind, int64_t directions) {
  RecurrentFunctionFields f;
  for (const Activation& a :
       read_activations(p.attributes(), static_cast<size_t>(directions), usual_functions(kind))) {
    f.kinds.push_back(static_cast<int64_t>(a.kind));
    f.alphas.push_back(a.alpha);
    f.betas.push_back(a.beta);
  }
  return f;
}

}  // namespace assay::engine
