// The definition of an operator: one OpDef per operator, in one file src/ops/<group>/<op>.cpp, named once in
// src/ops/ops.def.
//
// A file holds, for every opset version, the schema text (below), type and shape inference, and a reference
// evaluation that can be compared with the specification by eye. Everything else (checking, inference over
// graphs, the reference interpreter, constant folding, the engine's last tactic, conformance runs) is derived
// from the definition.
//
// Schema text, one declaration a line, or for a text that another version has `same as Relu-6`, `same as
// com.microsoft.Gelu-1`. A parameter's type is a constraint name or a literal type, as `in axes: int64 ?`.
//
// clang-format off
//   in  X: T              an input; `B: T ?` optional; `xs: T ...` variadic (one type), `xs: V ...any` variadic
//                         (mixed), `...2` at least two
//   out Y: T              the same for outputs
//   attr axis: int = -1   an attribute with its default; `attr to: int required`; no mark: optional without
//                         default. Kinds: int float string tensor graph type ints floats strings tensors graphs
//                         types sparse. Strings are written "NOTSET", lists [1, 2].
//   type T: float16 int8  a type constraint; composite types are written seq(tensor(float)). A word with @ is a
//                         group (schema.cpp lists them): @float, @numeric, @all, each also as _ir4 (with
//                         bfloat16), and @all_ir9 (8-bit floats), _ir10 (4-bit integers), _ir11, _ir12, _ir13;
//                         seq(tensor(@all)), too
// clang-format on
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "assay/tensor.h"
#include "kernels/approx_gemm/approx_gemm.h"
#include "ops/op_facts.h"

namespace assay {

class InferContext;
class EvalContext;
class OpContext;
class RowScorer;

/// Where rounding enters when the operator is computed in an arithmetic with unit roundoff u instead of
/// exactly. reference/error_bound.h turns this into a bound for each element; docs/internals/numerics.md
/// explains the model.
struct Numerics {
  enum class Kind : uint8_t {
    kExact,         ///< moves, selects or compares values: no rounding of its own
    kElementwise,   ///< |error| <= ulps * u * |y|
    kAccumulating,  ///< |error| <= (terms + ulps) * u * m, where m is the operator applied to the magnitudes
                    ///< |inputs| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
                    ///< section 3.1)
    kCustom,        ///< bound() says it
  };
  Kind kind = Kind::kExact;
  double ulps = 1;
  /// kAccumulating: additions on the way to one output element. Inputs as given to eval.
  int64_t (*terms)(EvalContext&) = nullptr;
  /// kAccumulating, when eval on |inputs| is not the right magnitude (a normalization, say): sets the outputs
  /// to m.
  void (*magnitude)(EvalContext&) = nullptr;
  /// kAccumulating, when the partial sums of the terms drift to something else than y: sets the outputs to
  /// that.
  void (*drift)(EvalContext&) = nullptr;
  /// kAccumulating, of operators that multiply inputs 0 and 1 and add their other inputs: sets output 0 in
  /// float32, to about six digits of the magnitude. kMagnitudes: to m; kValues: to input 0's contribution, so
  /// that differences of inputs give those of outputs. False, and nothing is set, where float32 lacks the
  /// range.
  bool (*rough)(EvalContext&, kernels::ApproxOf) = nullptr;
  /// With rough: whether several inputs 0 that are stacked along their first axis give their outputs stacked.
  bool (*stacks)(const EvalContext&) = nullptr;
  /// kCustom: called after eval with the same inputs; returns the bound for output i, float64 of the output's
  /// shape. `y` is that exact output.
  Tensor (*bound)(EvalContext&, double u, size_t i, const Tensor& y) = nullptr;
  /// kCustom, when the error to expect is much smaller than the bound: the same for that. Null: a
  /// quarter of the bound, one rounding at least.
  Tensor (*expected)(EvalContext&, double u, size_t i, const Tensor& y) = nullptr;
  /// Expensive functions of input 0's elements alone: eval's result for `lane`, to ten digits of the
  /// difference from y, its result for x. All are float64 of one shape.
  Tensor (*beside)(const Tensor& x, const Tensor& y, const Tensor& lane) = nullptr;
  /// Where errors propagate within the operator (a recurrence), so that no size per element describes them:
  /// sets the outputs to those of a possible arithmetic of unit roundoff u, with a random error in every
  /// operation. They depend on the inputs and `key` only.
  void (*perturb)(EvalContext&, double u, uint64_t key) = nullptr;
};

/// One opset version of an operator; it holds from `since` up to the next version of the list.
struct OpVersion {
  int since;
  std::string_view schema;
  /// Sets the types and shapes of the outputs as far as they are known; throws Error when the inputs break a
  /// rule.
  void (*infer)(InferContext&);
  /// Computes the outputs; null when the operator cannot be evaluated. Throws Error naming the broken rule.
  void (*eval)(EvalContext&);
};

/// Which element types eval sees.
enum class EvalTypes : uint8_t {
  kFloat64,     ///< floats arrive as float64 and leave as float64, whatever their declared type; the rest as
                ///< stored
  kFloat32Too,  ///< eval moves, selects or compares floats: outside the float64 reference, float32 arrives
                ///< and leaves as float32, and narrower floats widened to it
  kAsStored,  ///< eval moves elements without looking at them (or converts them itself): every type as stored
};

struct OpDef {
  std::string_view domain;  ///< "" for ai.onnx
  std::string_view name;
  std::span<const OpVersion> versions;  ///< oldest first
  Numerics numerics;
  EvalTypes types = EvalTypes::kFloat64;
  /// Of operators of ai.onnx.ml with large attributes: their computation, prepared for many runs
  /// (ops/ml/row_scorer.h).
  std::unique_ptr<RowScorer> (*scorer)(const OpContext&) = nullptr;
  /// Results differ from run to run unless a seed is given: never folded.
  bool random = false;
  OpFacts facts = {};
};

}  // namespace assay
