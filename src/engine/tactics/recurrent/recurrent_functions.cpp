#include "engine/tactics/recurrent/recurrent_functions.h"

#include "ops/rnn/activation.h"

namespace assay::engine {

using kernels::RecurrentDirection;
using kernels::RecurrentKind;

void write_recurrent_functions(const Problem& p, RecurrentKind kind, int64_t directions, Step& step) {
  std::vector<int64_t> kinds;
  std::vector<double> alphas, betas;
  for (const Activation& a :
       read_activations(p.attributes(), static_cast<size_t>(directions), usual_functions(kind))) {
    kinds.push_back(static_cast<int64_t>(a.kind));
    alphas.push_back(a.alpha);
    betas.push_back(a.beta);
  }
  step.parameters.set("functions", kinds);
  step.parameters.set("alphas", alphas);
  step.parameters.set("betas", betas);
}

std::vector<RecurrentDirection> read_recurrent_directions(const StepReader& r, RecurrentKind kind,
                                                          int64_t count, bool backward) {
  const size_t functions = usual_functions(kind).size(), all = static_cast<size_t>(count) * functions;
  const auto& kinds = r.numbers("functions", all, 0, kernels::kRecurrentFunctions - 1);
  const auto &alphas = r.reals("alphas", all), &betas = r.reals("betas", all);
  std::vector<RecurrentDirection> directions(static_cast<size_t>(count));
  for (size_t i = 0; i < all; ++i)
    directions[i / functions].activations[i % functions] = {static_cast<kernels::RecurrentFunction>(kinds[i]),
                                                            static_cast<float>(alphas[i]),
                                                            static_cast<float>(betas[i])};
  for (size_t i = 0; i < directions.size(); ++i) directions[i].backward = backward || i == 1;
  return directions;
}

}  // namespace assay::engine
