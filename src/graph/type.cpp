#include "assay/type.h"

namespace assay {

std::string Dim::str() const { return is_known() ? std::to_string(value_) : is_symbol() ? symbol_ : "?"; }

std::optional<Shape> known_shape(const Dims& dims) {
  Shape s;
  for (const Dim& d : dims) {
    if (!d.is_known()) return std::nullopt;
    s.push_back(d.value());
  }
  return s;
}

Dims to_dims(const Shape& shape) { return Dims(shape.begin(), shape.end()); }

std::string dims_str(const Dims& dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ", ";
    out += dims[i].is_known()    ? std::to_string(dims[i].value())
           : dims[i].is_symbol() ? "'" + dims[i].symbol() + "'"
                                 : "-1";
  }
  if (dims.size() == 1) out += ',';
  return out + ")";
}

bool Type::operator==(const Type& o) const {
  if (kind != o.kind || dtype != o.dtype || dims != o.dims || denotation != o.denotation) return false;
  if (!element || !o.element) return element == o.element;
  return *element == *o.element;
}

std::string Type::str() const {
  const std::string inner = element ? element->str() : "?";
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kOpaque:
      return "opaque";
    case Kind::kSequence:
      return "seq(" + inner + ")";
    case Kind::kOptional:
      return "optional(" + inner + ")";
    case Kind::kMap:
      return "map(" + std::string(dtype_name(dtype)) + ", " + inner + ")";
    case Kind::kTensor:
    case Kind::kSparseTensor:
      break;
  }
  std::string out = kind == Kind::kSparseTensor ? "sparse " : "";
  out += dtype_name(dtype);
  if (!dims) return out;
  out += '[';
  for (size_t i = 0; i < dims->size(); ++i) out += (i ? ", " : "") + (*dims)[i].str();
  return out + ']';
}

}  // namespace assay
