#include "tensor/value_tensors.h"

namespace assay {

std::string length_name(const std::string& name) { return name + ".length"; }
std::string keys_name(const std::string& name) { return name + ".keys"; }

void for_each_tensor(const std::string& name, Tensor value,
                     const std::function<void(const std::string& name, Tensor tensor)>& f) {
  if (!value.is_container()) return f(name, std::move(value));
  if (value.dtype() == DType::kMap) {
    for_each_tensor(keys_name(name), value.elements()[0], f);
    for_each_tensor(name + ".values", value.elements()[1], f);
    return;
  }
  f(length_name(name), Tensor::scalar(value.numel()));
  for (size_t i = 0; i < value.elements().size(); ++i)
    for_each_tensor(name + "[" + std::to_string(i) + "]", value.elements()[i], f);
}

}  // namespace assay
