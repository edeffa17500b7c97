#include "graph/metadata_text.h"

#include <fmt/format.h>

#include "base/python_repr.h"

namespace assay {

void MetadataText::add(std::string_view name, DType dtype, const std::optional<Dims>& dims) {
  if (!text_.empty()) text_ += ",\n ";
  text_ += name;
  std::string details;
  if (dtype != DType::kUndefined) details = fmt::format("dtype={}", dtype_name(dtype));
  if (dims) details += fmt::format("{}shape={}", details.empty() ? "" : ", ", dims_str(*dims));
  if (!details.empty()) text_ += " [" + details + "]";
}

std::string bounded_shape_text(const Dims& dims) {
  std::string out;
  for (const Dim& d : dims) {
    if (!out.empty()) out += ", ";
    out += d.is_known() ? std::to_string(d.value()) : d.is_symbol() ? python_str_repr(d.symbol()) : "None";
  }
  return "BoundedShape([" + out + "], min=None, max=None)";
}

}  // namespace assay
