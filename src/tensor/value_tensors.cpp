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

Tensor value_of(const std::string& name, DType container,
                const std::function<Tensor(const std::string& name)>& find) {
  if (Tensor t = find(name); t.defined()) return t;
  if (const Tensor length = find(length_name(name)); length.defined()) {
    if (length.dtype() != DType::kInt64 || length.numel() != 1) return {};
    std::vector<Tensor> elements;
    for (int64_t i = 0; i < length.data<int64_t>()[0]; ++i) {
      elements.push_back(value_of(name + "[" + std::to_string(i) + "]", DType::kSequence, find));
      if (!elements.back().defined()) return {};
    }
    if (container != DType::kOptional) return Tensor::sequence(std::move(elements));
    return Tensor::optional(elements.empty() ? Tensor() : elements[0]);
  }
  const Tensor keys = find(keys_name(name));
  if (!keys.defined()) return {};
  const Tensor values = value_of(name + ".values", DType::kSequence, find);
  return values.defined() ? Tensor::map(keys, values) : Tensor();
}

}  // namespace assay
