#include "graph/type_message.h"

#include "assay/error.h"

namespace assay {
namespace {

using onnx::MessageWriter;

/// Without Type::source.
Type plain_type(const onnx::TypeMessage& m) {
  Type t;
  t.denotation = m.denotation;
  switch (m.kind) {
    case 1:
      t.kind = Type::Kind::kTensor;
      break;
    case 8:
      t.kind = Type::Kind::kSparseTensor;
      break;
    case 4:
      t.kind = Type::Kind::kSequence;
      break;
    case 9:
      t.kind = Type::Kind::kOptional;
      break;
    case 5:
      t.kind = Type::Kind::kMap;
      break;
    case 7:
      t.kind = Type::Kind::kOpaque;
      break;
    default:
      return t;
  }
  t.dtype = to_dtype(m.elem_type);
  if (m.has_shape) {
    t.dims.emplace();
    for (const onnx::DimMessage& d : m.dims) {
      if (d.has_value)
        t.dims->push_back(d.value >= 0 ? Dim(d.value) : Dim());
      else
        t.dims->push_back(d.param.empty() ? Dim() : Dim::symbol(std::string(d.param)));
    }
  }
  if (!m.element.empty()) t.element = std::make_shared<Type>(plain_type(m.element[0]));
  return t;
}

/// Without Type::source.
MessageWriter plain_message(const Type& t) {
  const auto tensor_type = [&] {
    MessageWriter w;
    w.integer(1, static_cast<int64_t>(t.dtype));
    if (!t.dims) return w;
    MessageWriter shape;
    for (const Dim& d : *t.dims) {
      MessageWriter dim;
      if (d.is_known()) dim.integer(1, d.value());
      if (d.is_symbol()) dim.text(2, d.symbol());
      shape.message(1, dim);
    }
    w.message(2, shape);
    return w;
  };
  const auto container = [&](uint32_t element_field) {
    MessageWriter w;
    if (element_field == 2) w.integer(1, static_cast<int64_t>(t.dtype));
    if (t.element) w.message(element_field, plain_message(*t.element));
    return w;
  };
  MessageWriter w;
  const auto denotation = [&] { w.text_if(6, t.denotation); };
  switch (t.kind) {
    case Type::Kind::kUnknown:
      denotation();
      break;
    case Type::Kind::kTensor:
      w.message(1, tensor_type()), denotation();
      break;
    case Type::Kind::kSequence:
      w.message(4, container(1)), denotation();
      break;
    case Type::Kind::kMap:
      w.message(5, container(2)), denotation();
      break;
    case Type::Kind::kOpaque:
      denotation(), w.message(7, {});
      break;
    case Type::Kind::kSparseTensor:
      denotation(), w.message(8, tensor_type());
      break;
    case Type::Kind::kOptional:
      denotation(), w.message(9, container(1));
      break;
  }
  return w;
}

}  // namespace

DType to_dtype(int64_t number) {
  require(number == 0 || is_known_dtype(number), ErrorCode::kInvalidModel, "the element type {} is unknown",
          number);
  return static_cast<DType>(number);
}

Type to_type(const onnx::TypeMessage& m) {
  Type t = plain_type(m);
  if (plain_message(t).bytes() != m.bytes) t.source = std::make_shared<const std::string>(m.bytes);
  return t;
}

MessageWriter type_message(const Type& t) {
  if (t.source == nullptr || plain_type(onnx::read_type(*t.source)) != t) return plain_message(t);
  MessageWriter w;
  w.copied(*t.source);
  return w;
}

}  // namespace assay
