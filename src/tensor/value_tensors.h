// The tensors that represent a value in a run's results. Results are lists of named tensors, so that files,
// comparisons and the verdict handle nothing else; a container is decomposed by name:
//   a sequence y    y.length (int64, no dimensions), y[0], y[1], ...
//   an optional y   the same, with a length of 0 or 1
//   a map y         y.keys, y.values
// and so on inside: y[2].keys. The length makes a difference in the number of elements a difference of
// values.
#pragma once

#include <functional>
#include <string>

#include "assay/tensor.h"

namespace assay {

/// Calls f for each tensor that represents `value`: itself when it is a tensor.
void for_each_tensor(const std::string& name, Tensor value,
                     const std::function<void(const std::string& name, Tensor tensor)>& f);

/// The value that these tensors represent. `find` returns the tensor of a name, or an undefined one;
/// `container` is the kind of a length: kSequence or kOptional. Undefined when tensors are missing.
Tensor value_of(const std::string& name, DType container,
                const std::function<Tensor(const std::string& name)>& find);

/// y.length and y.keys: every container y has one of them, even if it is empty.
std::string length_name(const std::string& name);
std::string keys_name(const std::string& name);

}  // namespace assay
