#include "ops/value_type.h"

#include "assay/error.h"

namespace assay {
namespace {

Type wrapped(Type::Kind kind, Type element) {
  Type type{.kind = kind};
  if (element.kind != Type::Kind::kUnknown) type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

Dims common_dims(const Dims& a, const Dims& b) {
  Dims out = a;
  for (size_t d = 0; d < out.size(); ++d)
    if (!a[d].same_as(b[d])) out[d] = Dim();
  return out;
}

}  // namespace

Type sequence_of(Type element) { return wrapped(Type::Kind::kSequence, std::move(element)); }
Type optional_of(Type element) { return wrapped(Type::Kind::kOptional, std::move(element)); }
Type element_of(const Type& type) { return type.element ? *type.element : Type(); }

DType leaf_dtype(const Type& type) {
  if (type.element) return leaf_dtype(*type.element);
  return type.is_tensor() ? type.dtype : DType::kUndefined;
}

Type common_type(const Type& a, const Type& b) {
  if (a.kind != b.kind) return {};
  const bool either_unknown = a.dtype == DType::kUndefined || b.dtype == DType::kUndefined;
  require(a.dtype == b.dtype || either_unknown, ErrorCode::kInvalidModel, "the types {} and {} differ",
          a.str(), b.str());
  Type out{.kind = a.kind, .dtype = either_unknown ? DType::kUndefined : a.dtype};
  if (a.has_shape() && b.has_shape() && a.dims->size() == b.dims->size())
    out.dims = common_dims(*a.dims, *b.dims);
  if (a.element && b.element) {
    Type element = common_type(*a.element, *b.element);
    if (element.kind != Type::Kind::kUnknown) out.element = std::make_shared<const Type>(std::move(element));
  }
  return out;
}

Type without_dims(Type type) {
  type.dims.reset();
  if (type.element) type.element = std::make_shared<const Type>(without_dims(*type.element));
  return type;
}

}  // namespace assay
