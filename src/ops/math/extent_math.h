// Data propagation: how operators on small integer tensors change the extents that such tensors hold, so that
// the shape arithmetic of exported models (Shape, Gather, Mul, Concat, Reshape) is known before the model
// runs.
#pragma once

#include <optional>
#include <vector>

#include "ops/op_context.h"

namespace assay {

/// Whether a symbol's text shows that its value cannot be negative: `n`, `n-1` and `(n+5)/2`
/// cannot, `n-2` may be.
bool is_not_negative(const Dim& symbol);

/// Knowledge of one element: a number of either sign, or an integer that extents decide and that may be
/// symbolic, or nothing.
struct Element {
  Element() = default;
  explicit Element(int64_t n) : number(n), extent(n >= 0 ? Dim(n) : Dim()) {}
  explicit Element(const Dim& d) : extent(d), is_negative_at_times(!d.is_symbol() || !is_not_negative(d)) {
    if (d.is_known()) number = d.value();
  }

  std::optional<int64_t> number;
  Dim extent;                        ///< also set when the number is one
  bool is_negative_at_times = true;  ///< of a symbol
};

/// The elements of an integer or bool input of rank 0 or 1; nothing when none is known.
std::optional<std::vector<Element>> input_elements(const InferContext& c, size_t i);

/// Records that output 0 holds these elements; does nothing when none of them is an extent.
void set_output_elements(InferContext& c, const std::vector<Element>& elements);

/// Output 0 is f of inputs 0 and 1, broadcast.
void propagate(InferContext& c, Element (*f)(const Element&, const Element&));
/// Output 0 is f over all inputs, from the left.
void propagate_variadic(InferContext& c, Element (*f)(const Element&, const Element&));

Element add_elements(const Element& a, const Element& b);
Element sub_elements(const Element& a, const Element& b);
Element mul_elements(const Element& a, const Element& b);
/// Truncates; unknown when the divisor is 0.
Element div_elements(const Element& a, const Element& b);
Element max_elements(const Element& a, const Element& b);
Element min_elements(const Element& a, const Element& b);
/// 1 or 0.
Element equal_elements(const Element& a, const Element& b);

}  // namespace assay
