#include "fuzz/compare.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "arbiter/judge.h"
#include "graph/clone.h"
#include "ops/eval_util.h"
#include "ops/infer.h"
#include "ops/schema.h"
#include "reference/error_bound.h"
#include "reference/interpreter.h"
#include "run/conformance.h"
#include "tensor/convert.h"
#include "tensor/float_range.h"

namespace assay::fuzz {
namespace {

using Results = std::vector<Tensor>;
using LaneResults = std::vector<std::vector<Tensor>>;

/// For every output of the case its lanes.
LaneResults evaluate(const Case& c, const InterpreterOptions& options) {
  LaneResults results(c.model->graph->outputs.size());
  Interpreter interpreter(c.model, options);
  interpreter.run(c.feed, [&](const Value& v, std::span<const Tensor> lanes) {
    for (size_t i = 0; i < results.size(); ++i)
      if (c.model->graph->outputs[i] == &v) results[i].assign(lanes.begin(), lanes.end());
  });
  return results;
}

const Node& node_of(const Case& c) { return *c.model->graph->nodes()[0]; }

bool has_subgraph(const Node& n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(),
                     [](const Attribute& a) { return a.get_if<std::shared_ptr<Graph>>() != nullptr; });
}

/// The node's inputs, floats as float64.
std::vector<Tensor> exact_inputs(const Case& c) {
  std::vector<Tensor> inputs;
  const auto& fed = c.model->graph->inputs;
  for (const Value* v : node_of(c).inputs()) {
    const auto place = std::find(fed.begin(), fed.end(), v);
    inputs.push_back(v == nullptr
                         ? Tensor()
                         : widened(place != fed.end() ? c.feed[static_cast<size_t>(place - fed.begin())]
                                                      : v->tensor().aligned()));
  }
  return inputs;
}

/// The roundoff of the arithmetic that the specification asks for: that of the result, or of stash_type or
/// softmax_precision, in which the main part is computed, if that is coarser.
double arithmetic_roundoff(const Case& c, DType result) {
  const Node& n = node_of(c);
  const BoundOp bound = require_op(n, *c.model);
  const OpContext context(n, *bound.op, *bound.version);
  double u = unit_roundoff(result);
  for (const char* name : {"stash_type", "softmax_precision"})
    if (const AttributeDef* a = schema_of(*bound.version).attribute(name);
        a && (a->fallback || context.has_attr(name)))
      if (const auto t = static_cast<DType>(context.attr_int(name)); is_float(t))
        u = std::max(u, unit_roundoff(t));
  return u;
}

/// How far output i of the node may be from the float64 result y: its bound, in arithmetic of this unit
/// roundoff.
Tensor bound_of(const Case& c, const Results& y, size_t i, double roundoff) {
  const BoundOp bound = require_op(node_of(c), *c.model);
  Tensor sum = Tensor::zeros(DType::kFloat64, y[i].shape());
  for (const double u : {roundoff, unit_roundoff(DType::kFloat64)}) {
    EvalContext context(node_of(c), *bound.op, *bound.version, exact_inputs(c));
    context.ideal = true;
    const Tensor one = error_bounds(context, y, std::vector<double>(y.size(), u))[i];
    if (!one.defined() || one.shape() != sum.shape()) continue;
    for (int64_t k = 0; k < sum.numel(); ++k)
      sum.mutable_data<double>()[k] += std::abs(one.data<double>()[k]);
  }
  return sum;
}

std::string text_of(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return fmt::format("'{}'", t.span<std::string>()[static_cast<size_t>(i)]);
  if (is_complex(t.dtype())) return "?";
  return fmt::format("{:.9g}", convert(t, DType::kFloat64).data<double>()[i]);
}

/// Empty, or the first difference of type, shape or element. NaNs are equal, and so are 0 and -0.
std::string first_difference(const Tensor& actual, const Tensor& stored) {
  const std::string d = conformance_difference(actual, stored, {.rtol = 0, .atol = 0});
  if (d != "values differ") return d;
  int64_t first = -1, count = 0;
  for (int64_t i = 0; i < actual.numel(); ++i)
    if (text_of(actual, i) != text_of(stored, i) && count++ == 0) first = i;
  if (first < 0) return d;
  return fmt::format("element {} is {} instead of {}, {} of {} differ", first, text_of(actual, first),
                     text_of(stored, first), count, actual.numel());
}

/// Largest |result - exact| over a given bound; storing costs half a unit in the last place more. Float64
/// tensors of one shape.
double ratio_to_bound(const Tensor& result, const Tensor& exact, const Tensor& bound, DType declared) {
  const double u = unit_roundoff(declared), floor = float_range(declared).smallest;
  const Tensor storing = map_elements<double>(exact, [=](double y) { return u * std::abs(y) + floor; });
  const Tensor most = map_broadcast<double>(storing, bound, [](double a, double b) { return a + b; });
  return deviation(result, exact, {.most = most, .possible = {}}, declared).ratio;
}

/// A float tensor that is not the stored result.
Comparison compare_floats(const Case& c, const Tensor& actual, const Tensor& stored, size_t i) {
  const std::string d = first_difference(actual, stored), text = fmt::format("output {}: {}", i, d);
  if (d.empty()) return {};
  if (has_subgraph(node_of(c))) {
    const LaneResults lanes = evaluate(c, {.noisy_lanes = 3});
    StoredTensor result(actual);
    ArbiterVerdict v;
    judge_result(result, {.lanes = lanes[i], .declared = stored.dtype()}, v);
    return {v.verdict == Verdict::kWrong ? Outcome::kDifferent : Outcome::kRounding, text, {}, 0, 0};
  }
  Results y;
  for (const auto& lanes : evaluate(c, {})) y.push_back(lanes[0]);
  if (y[i].shape() != actual.shape() || y[i].dtype() != DType::kFloat64) return {Outcome::kDifferent, text};
  const Tensor bound = bound_of(c, y, i, arithmetic_roundoff(c, actual.dtype())), wide = to_float64(actual);
  const auto ratio = [&](const Tensor& a, const Tensor& b, const Tensor& e) {
    return ratio_to_bound(a, b, e, actual.dtype());
  };
  if (ratio(wide, y[i], bound) <= 1) return {Outcome::kRounding, text};
  int64_t worst = 0;
  double most = -1;
  const auto at = [](const Tensor& t, int64_t k) { return Tensor::scalar(t.data<double>()[k]); };
  for (int64_t k = 0; k < wide.numel(); ++k)
    if (const double r = ratio(at(wide, k), at(y[i], k), at(bound, k)); r > most) most = r, worst = k;
  const Tensor coarse = bound_of(c, y, i, unit_roundoff(DType::kFloat32));
  return {Outcome::kDifferent,
          fmt::format("output {}: element {} is {:.9g} instead of {:.9g} with the bound {:.3g}", i, worst,
                      wide.data<double>()[worst], y[i].data<double>()[worst], bound.data<double>()[worst]),
          actual.dtype(), most, ratio_to_bound(wide, y[i], coarse, DType::kFloat32)};
}

Comparison compare_output(const Case& c, const Tensor& actual, const Tensor& stored, size_t i) {
  if (actual.identical(stored)) return {};
  if (actual.dtype() == stored.dtype() && actual.shape() == stored.shape() && is_float(actual.dtype()))
    return compare_floats(c, actual, stored, i);
  const std::string d = first_difference(actual, stored);
  if (d.empty()) return {};
  return {Outcome::kDifferent, fmt::format("output {}: {}", i, d)};
}

/// Type, shape and the first elements.
std::string value_text(const Tensor& t) {
  if (!t.defined()) return "-";
  if (t.is_container()) {
    std::vector<std::string> parts;
    for (const Tensor& e : t.elements()) parts.push_back(value_text(e));
    return fmt::format("{}({})", dtype_name(t.dtype()), fmt::join(parts, ", "));
  }
  std::vector<std::string> parts;
  for (int64_t i = 0; i < std::min<int64_t>(t.numel(), 8); ++i) parts.push_back(text_of(t, i));
  return fmt::format("{}{}{{{}{}}}", dtype_name(t.dtype()), t.shape().str(), fmt::join(parts, " "),
                     t.numel() > 8 ? " ..." : "");
}

std::string attribute_text(const Attribute& a) {
  if (const auto* x = a.get_if<int64_t>()) return fmt::format("{}", *x);
  if (const auto* x = a.get_if<float>()) return fmt::format("{}", *x);
  if (const auto* x = a.get_if<std::string>()) return fmt::format("'{}'", *x);
  if (const auto* x = a.get_if<std::vector<int64_t>>()) return fmt::format("[{}]", fmt::join(*x, ", "));
  if (const auto* x = a.get_if<std::vector<float>>()) return fmt::format("[{}]", fmt::join(*x, ", "));
  if (const auto* x = a.get_if<std::vector<std::string>>())
    return fmt::format("['{}']", fmt::join(*x, "', '"));
  if (const auto* x = a.get_if<UnalignedTensor>()) return value_text(x->aligned());
  return "...";
}

/// A sentence about memory without its numbers, which depend on what is in use; others as they are.
std::string without_amounts(std::string text) {
  const bool is_of_memory = text.find("bytes that there are") != std::string::npos ||
                            text.find("bytes are in use") != std::string::npos;
  if (is_of_memory)
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }, '#');
  return text;
}

bool is_missing_kernel(const std::string& refusal) {
  for (const char* word :
       {"NOT_IMPLEMENTED", "Could not find an implementation", "is under development",
        "is not a registered function/op", "not implemented", "Not implemented", "not supported",
        "Unsupported", "unsupported", "NotImplemented", "No Op registered", "is not currently registered",
        "is deprecated in domain_version", "does not support"})
    if (refusal.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string describe(const Case& c) {
  const Node& n = node_of(c);
  std::vector<std::string> attributes, inputs;
  for (const Attribute& a : n.attributes) attributes.push_back(a.name + "=" + attribute_text(a));
  for (const Value* v : n.inputs()) {
    const auto& fed = c.model->graph->inputs;
    const auto place = std::find(fed.begin(), fed.end(), v);
    inputs.push_back(v == nullptr
                         ? "-"
                         : value_text(place != fed.end() ? c.feed[static_cast<size_t>(place - fed.begin())]
                                                         : v->tensor().aligned()));
  }
  return fmt::format("{}({}) {}", n.op_type, fmt::join(attributes, ", "), fmt::join(inputs, ", "));
}

Comparison compare(const Case& c, const Backend& backend) {
  std::string refusal, words;
  LaneResults stored;
  Case own = c;
  try {
    own.model = clone_model(*c.model);
    infer_shapes(*own.model);
    stored = evaluate(own, {.precision = ReferencePrecision::kStored});
  } catch (const Error& e) {
    refusal = e.what();
    words = e.message();
  } catch (const std::exception& e) {
    refusal = e.what();
  }
  Results actual(c.model->graph->outputs.size());
  try {
    const auto session = backend.open({refusal.empty() ? own.model : c.model, ""},
                                      {.threads = 1, .on_warning = [](std::string_view) {}});
    session->run(c.feed, [&](size_t i, Tensor t) { actual[i] = std::move(t); });
  } catch (const Error& e) {
    if (refusal.empty())
      return {is_missing_kernel(e.what()) ? Outcome::kNoKernel : Outcome::kOnlyReference, e.what()};
    const bool is_same = without_amounts(e.message()) == without_amounts(words) || e.what() == refusal;
    if (is_same) return {Outcome::kRefused, refusal};
    return {Outcome::kOtherWords, fmt::format("the reference says: {} | the other: {}", refusal, e.what())};
  } catch (const std::exception& e) {
    if (!refusal.empty()) return {Outcome::kRefused, refusal};
    return {is_missing_kernel(e.what()) ? Outcome::kNoKernel : Outcome::kOnlyReference, e.what()};
  }
  if (!refusal.empty()) return {Outcome::kOnlyOther, refusal};
  Comparison result;
  for (size_t i = 0; i < actual.size() && result.outcome != Outcome::kDifferent; ++i) {
    if (!stored[i].empty() && actual[i].defined()) {
      const Comparison one = compare_output(own, actual[i], stored[i][0], i);
      if (one.outcome > result.outcome) result = one;
    }
  }
  return result;
}

}  // namespace assay::fuzz
