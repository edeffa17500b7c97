#include "fuzz/passes/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/error.h"
#include "fuzz/passes/evidence.h"
#include "graph/clone.h"
#include "graph/to_text.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"
#include "passes/region.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

constexpr int kLanes = 3;

/// Of one output, all lanes.
using Result = std::vector<Tensor>;
using Results = std::vector<Result>;

/// In exact numbers, followed by this many noisy lanes.
Results evaluate_exact(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                       int lanes) {
  Results results(model->graph->outputs.size());
  Interpreter(model, {.noisy_lanes = lanes, .max_work = kMaxWork})
      .run(feed, [&](const Value& v, std::span<const Tensor> all) {
        for (size_t i = 0; i < results.size(); ++i)
          if (model->graph->outputs[i] == &v) results[i].assign(all.begin(), all.end());
      });
  return results;
}

/// The same number, NaN and NaN, or zeros.
bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// One output of both graphs.
class Comparison {
 public:
  Comparison(const Draft& draft, Evidence& evidence, size_t output, DType dtype)
      : draft_(draft),
        closeness_(draft.closeness),
        evidence_(evidence),
        output_(output),
        dtype_(dtype),
        a_(arithmetic_of(dtype)) {}

  /// `exact` with its noisy lanes, in float64; `stored` as the types round.
  std::string run(const Result& exact, const Tensor& stored, const Tensor& edited_exact,
                  const Tensor& edited_stored) const {
    if (stored.is_container() || stored.dtype() == DType::kString) return {};
    if (stored.dtype() != edited_stored.dtype()) return "the element type changes";
    if (stored.shape() != edited_stored.shape())
      return fmt::format("{} becomes {}", stored.shape().str(), edited_stored.shape().str());
    if (!is_float(dtype_)) return integers(stored, edited_stored);
    const std::vector<double> s = numbers_of(stored), t = numbers_of(edited_stored);
    const std::vector<double> x = numbers_of(exact[0]), y = numbers_of(edited_exact);
    std::vector<std::vector<double>> noisy;
    for (size_t k = 1; k < exact.size(); ++k) noisy.push_back(numbers_of(exact[k]));
    for (size_t i = 0; i < s.size(); ++i) {
      if (const std::string problem = stored_numbers(i, x[i], s[i], t[i]); !problem.empty())
        return fmt::format("element {}: {}", i, problem);
      if (closeness_ == Closeness::kStored) continue;
      if (const std::string problem = exact_numbers(i, x[i], y[i], noisy); !problem.empty())
        return fmt::format("element {}: {}", i, problem);
    }
    return {};
  }

 private:
  std::string integers(const Tensor& a, const Tensor& b) const {
    const int64_t slack = closeness_ == Closeness::kQuantized ? 1 : 0;
    if (a.dtype() == DType::kBool) {
      const auto x = a.span<bool>(), y = b.span<bool>();
      for (size_t i = 0; i < x.size(); ++i)
        if (x[i] != y[i]) return fmt::format("element {}: {} becomes {}", i, x[i], y[i]);
      return {};
    }
    if (!is_integer(a.dtype())) return {};
    const std::vector<int64_t> x = convert(a, DType::kInt64).to_int64(),
                               y = convert(b, DType::kInt64).to_int64();
    for (size_t i = 0; i < x.size(); ++i)
      if (x[i] != y[i] && (slack == 0 || std::abs(x[i] - y[i]) > slack))
        return fmt::format("element {}: {} becomes {}", i, x[i], y[i]);
    return {};
  }

  bool is_bound_to_be_the_same() const {
    return closeness_ == Closeness::kExact || closeness_ == Closeness::kStored;
  }

  std::string stored_numbers(size_t i, double exact, double a, double b) const {
    if (is_same(a, b)) return {};
    const std::string problem = fmt::format("in the stored types {} becomes {}", a, b);
    if (is_bound_to_be_the_same()) return problem;
    if (!std::isfinite(a) || !std::isfinite(b)) return is_open(i, exact, a, b) ? "" : problem;
    if (closeness_ == Closeness::kSharp && std::abs(a - b) > few_roundings(a) &&
        std::abs(a - b) > few_roundings(a) + 2 * of(evidence_.sensitivity(), i) + of_merged_constants(i))
      return problem + ", by more than a few roundings";
    return {};
  }

  std::string exact_numbers(size_t i, double a, double b,
                            const std::vector<std::vector<double>>& noisy) const {
    if (is_same(a, b)) return {};
    double spread = 0;
    for (const std::vector<double>& lane : noisy) {
      if (i >= lane.size() || std::isfinite(lane[i]) != std::isfinite(a)) return {};
      spread = std::max(spread, std::abs(lane[i] - a));
    }
    if (std::isnan(spread)) spread = 0;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (std::isfinite(a) && std::abs(a) > a_.most) return {};
      if (!is_bound_to_be_the_same() && is_open(i, a, a, b)) return {};
      return fmt::format("in exact numbers {} becomes {}", a, b);
    }
    double allowed = 2 * kExplainedFactor * spread + 16 * a_.unit * std::abs(a) + 16 * a_.least;
    if (closeness_ == Closeness::kSharp) allowed = std::max(allowed, few_roundings(a));
    if (std::abs(a - b) <= allowed) return {};
    if (closeness_ == Closeness::kSharp) allowed += of_merged_constants(i);
    if (!is_bound_to_be_the_same()) {
      // Of float64 there are no exact numbers.
      if (dtype_ == DType::kFloat64 && !evidence_.has_headroom()) return {};
      if (draft_.rounds_constants || dtype_ == DType::kFloat64) allowed += 4 * of_merged_constants(i);
      if (std::abs(a - b) <= allowed) return {};
    }
    return fmt::format("in exact numbers {} becomes {}, where rounding explains {:.3g}", a, b, allowed);
  }

  /// Of the result and of the inputs, whatever constants are in between.
  double few_roundings(double result) const {
    return 16 * a_.unit * (std::abs(result) + draft_.largest_input()) + 8 * a_.least;
  }

  /// Merged constants are rounded to their type, and each term of the edited graph moves by that. A number
  /// that rounds on purpose is none of these terms once it is merged away.
  double of_merged_constants(size_t i) const { return 8 * a_.unit * of(evidence_.magnitudes(), i); }

  /// Whether a result that is not finite, in one of both, need not agree.
  bool is_open(size_t i, double exact, double a, double b) const {
    // Overflow may happen elsewhere; numbers next to the largest one may overflow on the way.
    if (!std::isfinite(a) && std::isfinite(exact)) return true;
    if (std::isfinite(a) != std::isfinite(b) && std::abs(exact) >= a_.most * (1 - 16 * a_.unit)) return true;
    // It overflows without infinite inputs already.
    if (!std::isfinite(of(evidence_.of_finite_inputs(), i))) return true;
    if (draft_.joins_infinities && std::isnan(a) && std::isinf(b) &&
        std::isfinite(of(evidence_.without_infinities(), i, a)))
      return true;
    if (!draft_.may_overflow) return false;
    return of(evidence_.magnitudes(), i) > a_.most * (1 - 16 * a_.unit) || evidence_.leaves_range();
  }

  double of(const OutputNumbers& numbers, size_t i, double otherwise = 0) const {
    return i < numbers[output_].size() ? numbers[output_][i] : otherwise;
  }

  const Draft& draft_;
  const Closeness closeness_;
  Evidence& evidence_;
  const size_t output_;
  const DType dtype_;
  const Arithmetic a_;
};

/// The part of a value's type that is wrong for a tensor; empty: none.
std::string claim_against(const Value& v, const Tensor& t) {
  if (t.is_container() || !v.type.has_shape()) return {};
  const Dims& dims = *v.type.dims;
  bool holds = dims.size() == static_cast<size_t>(t.rank()) &&
               (v.type.dtype == DType::kUndefined || v.type.dtype == t.dtype());
  for (size_t d = 0; holds && d < dims.size(); ++d)
    holds = !dims[d].is_known() || dims[d].value() == t.shape()[d];
  if (holds) return {};
  return fmt::format("'{}' is {}, and its type says {}", v.name(), t.shape().str(), v.type.str());
}

/// A model's results with its types' rounding, and the statements of its values' types that are wrong.
struct Stored {
  std::vector<Tensor> outputs;
  std::string false_claim;
};

Stored evaluate_stored(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed) {
  const std::vector<Value*>& outputs = model->graph->outputs;
  std::vector<const Value*> wanted(outputs.begin(), outputs.end());
  for (const auto& n : model->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr && v->type.is_tensor() && std::find(wanted.begin(), wanted.end(), v) == wanted.end())
        wanted.push_back(v);
  Stored stored{.outputs = std::vector<Tensor>(outputs.size())};
  Interpreter(model, {.precision = ReferencePrecision::kStored, .max_work = kMaxWork})
      .run(
          feed,
          [&](const Value& v, std::span<const Tensor> all) {
            if (stored.false_claim.empty() && v.producer() != nullptr)
              stored.false_claim = claim_against(v, all[0]);
            for (size_t i = 0; i < outputs.size(); ++i)
              if (outputs[i] == &v) stored.outputs[i] = all[0];
          },
          wanted);
  return stored;
}

std::vector<const PassDef*> passes_named(const std::vector<std::string>& names) {
  std::vector<const PassDef*> passes;
  for (const std::string& name : names) passes.push_back(built_in_passes().find(name));
  return passes;
}

std::string text_of(const Model& before, const Model& after, const std::vector<Tensor>& feed) {
  std::string text = to_text(before);
  for (size_t i = 0; i < feed.size(); ++i) {
    text += fmt::format("{} = {}{}:", before.graph->inputs[i]->name(), dtype_name(feed[i].dtype()),
                        feed[i].shape().str());
    for (const double x : numbers_of(feed[i])) text += fmt::format(" {}", x);
    text += '\n';
  }
  return text + "becomes\n" + to_text(after);
}

class Trying {
 public:
  Trying(Draft& draft, const PassDef& pass) : draft_(draft), pass_(pass), before_(draft.take()) {}

  Trial run() {
    try {
      infer_shapes(*before_);
      edited_ = clone_model(*before_);
      if (draft_.calls_functions) run_passes(*before_, passes_named({"inline_functions"}));
      run_passes(*edited_, passes_named(draft_.before));
    } catch (const Error&) {
      return trial_;
    }
    trial_.is_valid = true;
    try {
      edit();
    } catch (const Error& e) {
      trial_.problem = fmt::format("the pass ends with an error: {}", e.what());
    }
    if (trial_.edits > 0 || !trial_.problem.empty()) judge();
    if (!trial_.is_valid) trial_.problem.clear();
    if (!trial_.problem.empty()) trial_.text = text_of(*before_, *edited_, draft_.feed());
    return trial_;
  }

 private:
  void edit() {
    const PassDef* const alone[] = {&pass_};
    trial_.edits = run_passes(*edited_, alone, {.verify = true, .recurse_subgraphs = true})[0].edits;
    run_passes(*edited_, passes_named(draft_.after), {.verify = true});
    dissolve_regions(*edited_, [](const Node&) { return true; });
  }

  void judge() {
    const std::vector<Tensor>& feed = draft_.feed();
    Stored stored, edited_stored;
    Results edited_exact;
    try {
      // A model whose types are wrong, or that cannot be evaluated, is no example.
      stored = evaluate_stored(before_, feed);
      exact_ = evaluate_exact(before_, feed, 0);
      trial_.is_valid = stored.false_claim.empty();
    } catch (const Error&) {
      trial_.is_valid = false;
    }
    if (!trial_.is_valid || !trial_.problem.empty()) return;
    try {
      edited_stored = evaluate_stored(edited_, feed);
      trial_.problem = edited_stored.false_claim;
      infer_shapes(*edited_);
      edited_exact = evaluate_exact(edited_, feed, 0);
    } catch (const Error& e) {
      trial_.problem = fmt::format("what it makes cannot be evaluated: {}", e.what());
    }
    Evidence evidence(before_, edited_, feed);
    // Explanations by rounding take long to find, and most edits need none.
    for (const int lanes : {0, kLanes}) {
      if (!trial_.problem.empty() && lanes == 0) return;
      if (lanes > 0) exact_ = evaluate_exact(before_, feed, lanes);
      trial_.problem.clear();
      for (size_t i = 0; i < stored.outputs.size() && trial_.problem.empty(); ++i) {
        const Comparison compare(draft_, evidence, i, stored.outputs[i].dtype());
        trial_.problem =
            compare.run(exact_[i], stored.outputs[i], edited_exact[i][0], edited_stored.outputs[i]);
      }
      if (trial_.problem.empty()) return;
    }
  }

  Draft& draft_;
  const PassDef& pass_;
  std::shared_ptr<Model> before_, edited_;
  Results exact_;
  Trial trial_;
};

}  // namespace

Trial try_pass(Draft& draft, const PassDef& pass) { return Trying(draft, pass).run(); }

}  // namespace assay::fuzz
