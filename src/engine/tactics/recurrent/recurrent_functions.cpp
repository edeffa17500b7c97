#include "engine/tactics/recurrent/recurrent_functions.h"

#include "ops/rnn/activation.h"

namespace assay::engine {

using kernels::RecurrentDirection;
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

std::vector<RecurrentDirection> read_recurrent_directions(const StepReader& r, RecurrentKind kind,
                                                          int64_t count, bool backward) {
  const size_t functions = usual_functions(kind).size(), all = static_cast<size_t>(count) * functions;
  const auto f = r.read(RecurrentFunctionFields{all});
  std::vector<RecurrentDirection> directions(static_cast<size_t>(count));
  for (size_t i = 0; i < all; ++i)
    directions[i / functions].activations[i % functions] = {
        static_cast<kernels::RecurrentFunction>(f.kinds[i]), static_cast<float>(f.alphas[i]),
        static_cast<float>(f.betas[i])};
  for (size_t i = 0; i < directions.size(); ++i) directions[i].backward = backward || i == 1;
  return directions;
}

}  // namespace assay::engine
