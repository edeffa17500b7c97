// Slices and stacks: how Loop and Scan split their inputs and join their outputs.
#pragma once

#include <vector>

#include "assay/tensor.h"
#include "assay/type.h"
#include "ops/op_context.h"

namespace assay {

/// Entry `index` of a tensor along an axis; the result has one dimension less.
Tensor slice_at(const Tensor& t, size_t axis, int64_t index);

/// The results of the iterations of a loop, put together along a new axis.
class Stack {
 public:
  /// `type` is what is known of one entry; it decides type and shape when there are none (an unknown extent
  /// is 0 then).
  explicit Stack(Type type) : type_(std::move(type)) {}

  /// Throws Error when the entry is not a tensor, when its type or shape differ from the others', or the
  /// stack grows beyond what an output may take.
  void push(Tensor entry);
  /// The stack with its entries along `axis` in [-rank, rank) of the result, the last first when `reversed`.
  /// With `length` above the number of entries the rest is zero. Throws Error when there are no entries and
  /// neither type nor rank is known.
  Tensor joined(int64_t axis = 0, bool reversed = false, int64_t length = 0) const;

 private:
  Type type_;
  std::vector<Tensor> entries_;
};

/// The type known of output i of a body, as the evaluation keeps it: floats of the reference are float64.
Type entry_type(const EvalContext& c, const Graph& body, size_t i);

/// One element of a condition or count; throws Error naming `what` unless the tensor has exactly one.
const Tensor& single(const Tensor& t, const char* what);

}  // namespace assay
