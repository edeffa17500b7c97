// The tensors that stand for a value in a run's results. Results are lists of named tensors, so that files,
// comparisons and the verdict know nothing else; a container is taken apart by name:
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

/// Calls f once for each tensor that stands for `value`: itself when it is a tensor.
void for_each_tensor(const std::string& name, Tensor value,
                     const std::function<void(const std::string& name, Tensor tensor)>& f);

/// The value that these tensors stand for. `find` gives the tensor of a name, an undefined one where there is
/// none; `container` says what a length is of: kSequence or kOptional. Undefined when tensors are missing.
Tensor value_of(const std::string& name, DType container,
                const std::function<Tensor(const std::string& name)>& find);

/// y.length and y.keys: one of them is there for every container y, however empty.
std::string length_name(const std::string& name);
std::string keys_name(const std::string& name);

}  // namespace assay
