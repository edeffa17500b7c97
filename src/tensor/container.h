// Sequences, optionals and maps: work on the tensors inside.
#pragma once

#include <functional>

#include "assay/tensor.h"

namespace assay {

/// f(t) for a tensor; for a container the same container with every tensor in it, keys of maps too, replaced
/// by f of it. The container itself when f gives every tensor back as it is.
Tensor map_leaves(const Tensor& t, const std::function<Tensor(const Tensor&)>& f);

/// Whether there may be floats of another type than `dtype` in it, at any depth. Takes no time for a
/// container.
bool may_hold_floats_but(const Tensor& t, DType dtype);

/// Calls f for a tensor, or for every tensor in a container, in order.
void for_each_leaf(const Tensor& t, const std::function<void(const Tensor&)>& f);

}  // namespace assay
