// Sequences, optionals and maps: work on the tensors inside.
#pragma once

#include <functional>

#include "assay/tensor.h"

namespace assay {

/// f(t) for a tensor; for a container the same container with every tensor in it, keys of maps too, replaced
/// by f of it. Returns the container itself when f returns every tensor unchanged.
Tensor map_leaves(const Tensor& t, const std::function<Tensor(const Tensor&)>& f);

/// True when it may hold floats of a type other than
/// `dtype`, at any depth. Constant time for a container.
bool may_hold_floats_but(const Tensor& t, DType dtype);

/// Calls f for a tensor, or for every tensor in a container, in order.
void for_each_leaf(const Tensor& t, const std::function<void(const Tensor&)>& f);

}  // namespace assay
