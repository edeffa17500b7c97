#include "generate/parting.h"

#include <algorithm>
#include <cmath>

#include "assay/interrupt.h"
#include "generate/exact_logits.h"
#include "generate/sampling.h"
#include "tensor/convert.h"

namespace assay::generate {
namespace {

double logit_of(const Tensor& logits, int64_t token) {
  const Tensor wide = to_float64(logits);
  return token < wide.numel() ? wide.data<double>()[token] : std::nan("");
}

/// The largest error of a row against the exact one, where that is finite.
double error_of(const Tensor& logits, const std::vector<double>& exact) {
  const Tensor wide = to_float64(logits);
  double error = 0;
  for (size_t i = 0; i < exact.size() && i < static_cast<size_t>(wide.numel()); ++i)
    if (std::isfinite(exact[i])) error = std::max(error, std::abs(wide.data<double>()[i] - exact[i]));
  return error;
}

}  // namespace

double largest_difference(const Tensor& a, const Tensor& b) {
  const Tensor x = to_float64(a), y = to_float64(b);
  double largest = 0;
  for (int64_t i = 0; i < std::min(x.numel(), y.numel()); ++i)
    if (const double d = std::abs(x.data<double>()[i] - y.data<double>()[i]);
        !(d <= largest) && x.data<double>()[i] != y.data<double>()[i])
      largest = d;
  return largest;
}

Parting parting_of(size_t prompt, size_t index, Side first, const Tensor& first_logits, Side second,
                   const Tensor& second_logits) {
  first.best = most_likely(first_logits, 2);
  second.best = most_likely(second_logits, 2);
  first.other_logit = logit_of(first_logits, second.token);
  second.other_logit = logit_of(second_logits, first.token);
  return {
      .prompt = prompt, .index = index, .first = std::move(first), .second = std::move(second), .reason = {}};
}

void judge(Parting& parting, const Tensor& first, const Tensor& second, const Tokens& tokens,
           const std::shared_ptr<const Model>& model, const InterfaceNames& names) {
  try {
    std::vector<TensorInfo> inputs, outputs;
    for (const Value* v : model->graph->inputs) inputs.push_back({v->name(), v->type});
    for (const Value* v : model->graph->outputs) outputs.push_back({v->name(), v->type});
    const ExactLogits exact = exact_logits(
        model, std::make_shared<const Interface>(find_interface(inputs, outputs, names)), tokens);
    parting.explained = exact.explained;
    parting.exact_first = exact.exact.at(static_cast<size_t>(parting.first.token));
    parting.exact_second = exact.exact.at(static_cast<size_t>(parting.second.token));
    parting.first.error = error_of(first, exact.exact);
    parting.second.error = error_of(second, exact.exact);
    const bool first_right = parting.first.error <= exact.explained;
    const bool second_right = parting.second.error <= exact.explained;
    parting.explanation = first_right    ? second_right ? Explanation::kRounding : Explanation::kSecondWrong
                          : second_right ? Explanation::kFirstWrong
                                         : Explanation::kBothWrong;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& e) {
    parting.reason = e.what();
  }
}

std::string_view explanation_name(Explanation e) {
  switch (e) {
    case Explanation::kNotJudged:
      return "not judged";
    case Explanation::kRounding:
      return "rounding only";
    case Explanation::kFirstWrong:
      return "first wrong";
    case Explanation::kSecondWrong:
      return "second wrong";
    case Explanation::kBothWrong:
      return "both wrong";
  }
  return "";
}

}  // namespace assay::generate
