#include "inspect/attribute_text.h"

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/python_repr.h"
#include "inspect/text_block.h"
#include "tensor/print.h"

namespace assay {

std::string tensor_details(DType dtype, const Shape& shape) {
  const std::vector<int64_t> extents(shape.begin(), shape.end());
  return fmt::format("dtype={}, shape={}", dtype_name(dtype), python_list_repr(extents));
}

namespace {

/// The attributes of ONNX that hold the number of an element type.
bool holds_element_type(std::string_view name) {
  return name == "to" || name == "dtype" || name == "target_type";
}

}  // namespace

std::optional<std::string> attribute_text(std::string_view name, const Attribute::Data& data, bool weights) {
  if (const auto* f = std::get_if<float>(&data)) return python_float_repr(static_cast<double>(*f));
  if (const auto* i = std::get_if<int64_t>(&data)) {
    if (!holds_element_type(name) || (*i != 0 && !is_known_dtype(*i))) return std::to_string(*i);
    return std::string(dtype_name(static_cast<DType>(*i)));
  }
  if (const auto* s = std::get_if<std::string>(&data)) return *s;
  if (const auto* floats = std::get_if<std::vector<float>>(&data))
    return python_list_repr(std::vector<double>(floats->begin(), floats->end()));
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&data)) return python_list_repr(*ints);
  if (const auto* strings = std::get_if<std::vector<std::string>>(&data)) return python_list_repr(*strings);
  const auto* tensor = std::get_if<UnalignedTensor>(&data);
  if (tensor == nullptr) return std::nullopt;
  std::string text = fmt::format("Tensor: [{}]", tensor_details(tensor->dtype(), tensor->shape()));
  if (weights) text += " | Values:\n" + indented(array_str(tensor->aligned()));
  return text;
}

void warn_of_skipped(std::string_view type) {
  diag::once(diag::Severity::kWarning, "Attribute of type {} is currently unsupported. Skipping attribute.",
             type);
}

}  // namespace assay
