#include "engine/tactics/recurrent/recurrent_functions_kernel.h"

namespace assay::engine {

using kernels::RecurrentDirection;
using kernels::RecurrentKind;

const std::vector<std::string>& usual_functions(RecurrentKind kind) {
  static const std::vector<std::string> kRnn = {"Tanh"}, kGru = {"Sigmoid", "Tanh"},
                                        kLstm = {"Sigmoid", "Tanh", "Tanh"};
  return kind == RecurrentKind::kRnn ? kRnn : kind == RecurrentKind::kGru ? kGru : kLstm;
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
