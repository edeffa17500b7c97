// The arithmetic of fused operators. A fused operator is written once, as a sequence of steps, each of which
// knows its own rounding; Steps runs it in one of three ways: it computes values; it also makes in every step
// a random error of the size to expect (Numerics::perturb); or it propagates a bound of the error
// (Numerics::bound), for every order of the additions and to first order in u.
#pragma once

#include <functional>
#include <limits>

#include "ops/op_context.h"

namespace assay {

/// A float64 tensor on its way through a fused operator, and when bounds are wanted, how far an arithmetic
/// may err in each element; otherwise `error` is undefined.
struct Traced {
  Tensor value;
  Tensor error;
};

class Steps {
 public:
  /// Values only.
  Steps() = default;
  static Steps noisy(double u, uint64_t key) { return Steps(u, Mode::kNoisy, key); }
  static Steps bounding(double u) { return Steps(u, Mode::kBounding, 0); }

  /// An input: free of error.
  Traced given(const Tensor& t) const;
  /// A tensor that another arithmetic made, with an error of up to `size` times u in every element.
  Traced inexact(const Tensor& t, const Tensor& size);

  /// With NumPy broadcasting.
  Traced add(const Traced& a, const Traced& b);
  Traced multiply(const Traced& a, const Traced& b);
  /// times a number that is itself rounded, or exactly 1.
  Traced scale(const Traced& a, double factor);
  /// The matrix product of numpy.matmul.
  Traced product(const Traced& a, const Traced& b);
  /// Sums computed elsewhere: y, and on demand m, the same of the magnitudes; `terms` additions lead to one
  /// element. `carried` gives the error that follows from those of the operands; null: they have none.
  Traced accumulated(Tensor y, const std::function<Tensor()>& magnitudes, double terms,
                     const std::function<Tensor()>& carried = nullptr);
  /// f of every element. `slope` is the largest slope of f; `own` gives a float library's error in f(x) = y,
  /// in units of u.
  Traced map(const Traced& a, const std::function<double(double)>& f, double slope,
             const std::function<double(double x, double y)>& own);

  /// Rows of `count` elements, each less its mean and divided by its deviation; with `centred` false divided
  /// by its root mean square. `mean` and `inverse`, one per row, are set unless they are null.
  Traced normalize(const Traced& x, int64_t count, double epsilon, bool centred = true,
                   Traced* mean = nullptr, Traced* inverse = nullptr);
  /// The softmax of every row of the last dimension. A row of which all elements are -infinity gives zeros.
  /// `sink` is an extra score of every row without an output; -infinity for none.
  Traced softmax(const Traced& x, double sink = -std::numeric_limits<double>::infinity());

  /// Applies a change of shape or position to value and error.
  template <typename F>
  static Traced move(const Traced& a, F f) {
    return {f(a.value), a.error.defined() ? f(a.error) : Tensor()};
  }

  /// Steps of a part of the operator, with their own random numbers. Parts may run in parallel.
  Steps part(uint64_t i) const;
  /// Steps of a part that is computed with another unit roundoff.
  Steps rounding_to(double u) const;

  bool bounds() const { return mode_ == Mode::kBounding; }
  bool noise() const { return mode_ == Mode::kNoisy; }
  double u() const { return u_; }

 private:
  enum class Mode : uint8_t { kValues, kNoisy, kBounding };
  Steps(double u, Mode mode, uint64_t key) : u_(u), mode_(mode), key_(key) {}

  /// y with the step's own error: up to `most` times u in every element, `usual` times u to be expected.
  /// `carried` is the error that follows from those of the operands.
  template <typename Most, typename Usual, typename Carried>
  Traced step(Tensor y, Most most, Usual usual, Carried carried);

  double u_ = 0;
  Mode mode_ = Mode::kValues;
  uint64_t key_ = 0;
  uint64_t count_ = 0;  ///< of steps so far
};

/// The functions that an operator written as compute(c, steps) needs in its OpDef.
template <void (*kCompute)(EvalContext&, Steps&, std::vector<Traced>& outputs)>
struct FusedOp {
  static void eval(EvalContext& c) {
    Steps steps;
    set(c, steps);
  }
  static void perturb(EvalContext& c, double u, uint64_t key) {
    Steps steps = Steps::noisy(u, key);
    set(c, steps);
  }
  static Tensor bound(EvalContext& c, double u, size_t i, const Tensor&) {
    Steps steps = Steps::bounding(u);
    std::vector<Traced> outputs(c.output_count());
    kCompute(c, steps, outputs);
    return outputs[i].error;
  }
  static constexpr Numerics kNumerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb};

 private:
  static void set(EvalContext& c, Steps& steps) {
    std::vector<Traced> outputs(c.output_count());
    kCompute(c, steps, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) c.set_output(i, std::move(outputs[i].value));
  }
};

}  // namespace assay
