// Losses of classes by the log-probability of each target.
#include <limits>

#include "convert/expansions/parts.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

/// The loss for log-probabilities whose classes are the last axis. Opset 11.
class ClassLoss {
 public:
  ClassLoss(Rewrite& r, Value* log_probabilities) : r_(r), log_p_(log_probabilities), type_(r.dtype(0)) {}

  Value* value() {
    Value* target = r_.input(1);
    Value* ignored = is_ignored();
    if (ignored != nullptr) {
      // Any valid class: its result has weight 0.
      Value* zero = r_.constant(convert(Tensor::scalar(int64_t{0}), r_.dtype(1)), "class");
      target = r_.add("Where", {ignored, zero, target});
    }
    const AttributeList last = {{"axes", Ints{r_.rank(0) - 1}}};
    Value* places = r_.add("Unsqueeze", {target}, last);
    Value* picked = r_.add("GatherElements", {log_p_, places}, {{"axis", int64_t{r_.rank(0) - 1}}});
    Value* loss = r_.add("Neg", {r_.add("Squeeze", {picked}, last)});
    Value *zero = r_.number(0, type_, "zero"), *weights = nullptr;
    if (r_.input(2) != nullptr) {
      weights = r_.add("Gather", {r_.input(2), target});
      if (ignored != nullptr) weights = r_.add("Where", {ignored, zero, weights});
      // Weight 0 contributes 0, even if the value is infinite.
      loss = r_.add("Where", {cast(r_, weights, DType::kBool), r_.add("Mul", {loss, weights}), zero});
    } else if (ignored != nullptr) {
      weights = r_.add("Cast", {r_.add("Not", {ignored})}, {{"to", static_cast<int64_t>(type_)}});
      loss = r_.add("Where", {ignored, zero, loss});
    }
    return reduced(loss, weights);
  }

 private:
  /// Null: no target is.
  Value* is_ignored() {
    if (!r_.has("ignore_index")) return nullptr;
    const int64_t index = r_.get_int("ignore_index", 0);
    const DType t = r_.dtype(1);
    if (t == DType::kInt32 && index != static_cast<int32_t>(index)) return nullptr;
    return r_.add("Equal", {r_.input(1), r_.constant(convert(Tensor::scalar(index), t), "ignored")});
  }

  Value* reduced(Value* loss, Value* weights) {
    const std::string reduction = r_.get_string("reduction", "mean");
    const AttributeList all = {{"keepdims", int64_t{0}}};
    if (reduction == "none") return loss;
    if (reduction == "sum") return r_.add("ReduceSum", {loss}, all);
    if (weights == nullptr) return r_.add("ReduceMean", {loss}, all);
    return r_.add("Div", {r_.add("ReduceSum", {loss}, all), r_.add("ReduceSum", {weights}, all)});
  }

  Rewrite& r_;
  Value* log_p_;
  DType type_;
};

/// The order of axes that moves the classes to the end, or back.
Ints moved_axes(int rank, bool back) {
  Ints perm = {0};
  if (back) perm.push_back(rank - 1);
  for (int64_t d = back ? 1 : 2; d < (back ? rank - 1 : rank); ++d) perm.push_back(d);
  if (!back) perm.push_back(1);
  return perm;
}

Value* classes_last(Rewrite& r) {
  const int rank = r.rank(0);
  if (rank < 2) no_equivalent("scores of {} dimensions", rank);
  return rank == 2 ? r.input(0) : transpose(r, r.input(0), moved_axes(rank, false));
}

void expand_negative_log_likelihood(Rewrite& r) { r.replace({ClassLoss(r, classes_last(r)).value()}); }

void expand_softmax_cross_entropy(Rewrite& r) {
  const int rank = r.rank(0);
  Value* log_p = r.add("LogSoftmax", {classes_last(r)}, {{"axis", int64_t{rank - 1}}});
  Value* loss = ClassLoss(r, log_p).value();
  Value* shown = !r.is_used(1) ? nullptr : rank == 2 ? log_p : transpose(r, log_p, moved_axes(rank, true));
  r.replace({loss, shown});
}

}  // namespace

constinit const Expansion expansion_onnx_NegativeLogLikelihoodLoss = {
    "", "NegativeLogLikelihoodLoss", 11, "GatherElements", expand_negative_log_likelihood};
constinit const Expansion expansion_onnx_SoftmaxCrossEntropyLoss = {
    "", "SoftmaxCrossEntropyLoss", 11, "LogSoftmax and GatherElements", expand_softmax_cross_entropy};

}  // namespace assay
