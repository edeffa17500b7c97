#include "fuzz/passes/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/error.h"
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
constexpr int64_t kMaxWork = 1 << 24;

/// Of one output, all lanes.
using Result = std::vector<Tensor>;
using Results = std::vector<Result>;

Results evaluate(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                 ReferencePrecision precision, int lanes) {
  Results results(model->graph->outputs.size());
  Interpreter(model, {.precision = precision, .noisy_lanes = lanes, .max_work = kMaxWork})
      .run(feed, [&](const Value& v, std::span<const Tensor> all) {
        for (size_t i = 0; i < results.size(); ++i)
          if (model->graph->outputs[i] == &v) results[i].assign(all.begin(), all.end());
      });
  return results;
}

/// Of a floating type: unit roundoff, smallest and largest number.
struct Arithmetic {
  double unit, least, most;
};

Arithmetic arithmetic_of(DType t) {
  switch (t) {
    case DType::kFloat16:
      return {0x1p-11, 0x1p-24, 65504};
    case DType::kBFloat16:
      return {0x1p-8, 0x1p-133, 0x1.fep127};
    case DType::kFloat64:
      return {0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023};
    default:
      return {0x1p-24, 0x1p-149, 0x1.fffffep127};
  }
}

std::vector<double> numbers_of(const Tensor& t) {
  const Tensor wide = to_float64(t);
  return {wide.span<double>().begin(), wide.span<double>().end()};
}

/// The same number, NaN and NaN, or zeros.
bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

class Comparison {
 public:
  Comparison(DType dtype, Closeness closeness, double largest_input)
      : dtype_(dtype), closeness_(closeness), a_(arithmetic_of(dtype)), largest_input_(largest_input) {}

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
      if (const std::string problem = stored_numbers(x[i], s[i], t[i]); !problem.empty())
        return fmt::format("element {}: {}", i, problem);
      if (const std::string problem = exact_numbers(x[i], y[i], noisy, i); !problem.empty())
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

  std::string stored_numbers(double exact, double a, double b) const {
    if (is_same(a, b)) return {};
    // What overflows may do so elsewhere; numbers next to the largest one may on the way there.
    if (!std::isfinite(a) && std::isfinite(exact)) return {};
    if (std::isfinite(a) != std::isfinite(b)) {
      const bool is_close = std::abs(exact) >= a_.most * (1 - 16 * a_.unit);
      return is_close ? "" : fmt::format("in the stored types {} becomes {}", a, b);
    }
    if (!std::isfinite(a)) return fmt::format("in the stored types {} becomes {}", a, b);
    if (closeness_ == Closeness::kExact) return fmt::format("in the stored types {} becomes {}", a, b);
    if (closeness_ == Closeness::kSharp &&
        std::abs(a - b) > 16 * a_.unit * (std::abs(a) + largest_input_) + 8 * a_.least)
      return fmt::format("in the stored types {} becomes {}, by more than a few roundings", a, b);
    return {};
  }

  std::string exact_numbers(double a, double b, const std::vector<std::vector<double>>& noisy,
                            size_t i) const {
    if (is_same(a, b)) return {};
    double spread = 0;
    for (const std::vector<double>& lane : noisy) {
      if (i >= lane.size() || std::isfinite(lane[i]) != std::isfinite(a)) return {};
      spread = std::max(spread, std::abs(lane[i] - a));
    }
    if (std::isnan(spread)) spread = 0;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (std::isfinite(a) && std::abs(a) > a_.most) return {};
      return fmt::format("in exact numbers {} becomes {}", a, b);
    }
    const double allowed = 2 * kExplainedFactor * spread + 16 * a_.unit * std::abs(a) + 16 * a_.least;
    if (std::abs(a - b) <= allowed) return {};
    return fmt::format("in exact numbers {} becomes {}, where rounding explains {:.3g}", a, b, allowed);
  }

  DType dtype_;
  Closeness closeness_;
  Arithmetic a_;
  double largest_input_;
};

/// What the types of values say must be so.
std::string check_claims(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed) {
  std::vector<const Value*> wanted;
  for (const auto& n : model->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr && v->type.is_tensor()) wanted.push_back(v);
  if (wanted.empty()) return {};
  std::string problem;
  Interpreter(model, {.precision = ReferencePrecision::kStored, .max_work = kMaxWork})
      .run(
          feed,
          [&](const Value& v, std::span<const Tensor> all) {
            const Tensor& t = all[0];
            if (t.is_container() || !v.type.has_shape()) return;
            const Dims& dims = *v.type.dims;
            bool holds = dims.size() == static_cast<size_t>(t.rank()) &&
                         (v.type.dtype == DType::kUndefined || v.type.dtype == t.dtype());
            for (size_t d = 0; holds && d < dims.size(); ++d)
              holds = !dims[d].is_known() || dims[d].value() == t.shape()[d];
            if (!holds)
              problem =
                  fmt::format("'{}' is {}, and its type says {}", v.name(), t.shape().str(), v.type.str());
          },
          wanted);
  return problem;
}

std::vector<const PassDef*> passes_named(const std::vector<std::string>& names) {
  std::vector<const PassDef*> passes;
  for (const std::string& name : names) passes.push_back(built_in_passes().find(name));
  return passes;
}

double largest_number(const std::vector<Tensor>& feed) {
  double largest = 0;
  for (const Tensor& t : feed)
    if (is_float(t.dtype()))
      for (const double x : numbers_of(t))
        if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest;
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
    Results stored, edited_exact, edited_stored;
    try {
      // A model whose types are wrong, or that cannot be evaluated, is no example.
      trial_.is_valid = check_claims(before_, feed).empty();
      exact_ = evaluate(before_, feed, ReferencePrecision::kFloat64, kLanes);
      stored = evaluate(before_, feed, ReferencePrecision::kStored, 0);
    } catch (const Error&) {
      trial_.is_valid = false;
    }
    if (!trial_.is_valid || !trial_.problem.empty()) return;
    try {
      trial_.problem = check_claims(edited_, feed);
      infer_shapes(*edited_);
      edited_exact = evaluate(edited_, feed, ReferencePrecision::kFloat64, 0);
      edited_stored = evaluate(edited_, feed, ReferencePrecision::kStored, 0);
    } catch (const Error& e) {
      trial_.problem = fmt::format("what it makes cannot be evaluated: {}", e.what());
    }
    for (size_t i = 0; i < stored.size() && trial_.problem.empty(); ++i) {
      const Comparison compare(stored[i][0].dtype(), draft_.closeness, largest_number(feed));
      trial_.problem = compare.run(exact_[i], stored[i][0], edited_exact[i][0], edited_stored[i][0]);
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
