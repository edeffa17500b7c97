// Annotations, types, tensors and values of the text form.
#include "graph/text_writer.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "onnx/text/syntax.h"
#include "tensor/packed_bits.h"

namespace assay {

using onnx::annotation_string;
using onnx::text_name;
using onnx::text_string;

namespace {

/// The one NaN of each sign that its decimal form reproduces.
template <typename Float, typename Bits>
bool survives_with_bits(Float value) {
  if (!std::isnan(value)) return true;
  const auto bits = std::bit_cast<Bits>(value);
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (bits & ~kSign) == std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
}
bool survives(float v) { return survives_with_bits<float, uint32_t>(v); }
bool survives(double v) { return survives_with_bits<double, uint64_t>(v); }

}  // namespace

bool survives_as_decimal(float v) { return survives(v); }

bool TextWriter::at_line_start() const {
  const size_t last = out_.find_last_not_of(' ');
  return last == std::string::npos || out_[last] == '\n';
}

void TextWriter::annotate(std::string_view key, std::initializer_list<std::string_view> values) {
  if (!at_line_start()) new_line();
  put("{} {}", onnx::kAnnotationMark, key);
  for (const std::string_view v : values) put(" {}", annotation_string(v));
  new_line();
}

void TextWriter::annotate_metadata(const Metadata& metadata) {
  for (const auto& [key, value] : metadata) annotate(onnx::kMetadataAnnotation, {key, value});
}

void TextWriter::annotate_denotations(const Type& type) {
  std::string text;
  bool has_any = false;
  for (const Type* t = &type; t != nullptr; t = t->element.get()) {
    text += ' ' + annotation_string(t->denotation);
    has_any = has_any || !t->denotation.empty();
  }
  if (!has_any) return;
  if (!at_line_start()) new_line();
  put("{} {}{}", onnx::kAnnotationMark, onnx::kDenotationAnnotation, text);
  new_line();
}

void TextWriter::annotate_data(std::string_view bytes) {
  annotate(onnx::kDataAnnotation, {base64_encode(bytes)});
}

/// Writes the bits of NaNs that decimal numbers would lose.
void TextWriter::annotate_bits(const UnalignedTensor& t) {
  const Tensor a = t.aligned();
  const auto all_survive = [&](auto zero) {
    using Float = decltype(zero);
    const auto* data = static_cast<const Float*>(a.data());
    return std::all_of(data, data + a.nbytes() / sizeof(Float), [](Float v) { return survives(v); });
  };
  const bool is_single = t.dtype() == DType::kFloat32 || t.dtype() == DType::kComplex64;
  const bool is_double = t.dtype() == DType::kFloat64 || t.dtype() == DType::kComplex128;
  if ((is_single && !all_survive(0.0F)) || (is_double && !all_survive(0.0)))
    annotate_data({static_cast<const char*>(a.data()), a.nbytes()});
}

void TextWriter::opsets(const std::vector<OpsetImport>& imports) {
  out_ += "opset_import: [";
  list(imports, ", ", [&](const OpsetImport& o) { put("{} : {}", text_string(o.domain), o.version); });
  out_ += ']';
}

void TextWriter::pairs(const Metadata& entries) {
  out_ += '[';
  list(entries, ", ", [&](const auto& e) { put("{}: {}", text_string(e.first), text_string(e.second)); });
  out_ += ']';
}

void TextWriter::dims(const std::optional<Dims>& dims) {
  if (!dims) {
    out_ += "[]";
  } else if (!dims->empty()) {
    out_ += '[';
    list(*dims, ", ", [&](const Dim& d) { out_ += d.is_symbol() ? text_name(d.symbol()) : d.str(); });
    out_ += ']';
  }
}

void TextWriter::type(const Type& t) {
  const auto element = [&] {
    if (t.element) type(*t.element);
  };
  switch (t.kind) {
    case Type::Kind::kUnknown:
      break;
    case Type::Kind::kTensor:
      out_ += onnx_name(t.dtype);
      dims(t.dims);
      break;
    case Type::Kind::kSparseTensor:
      put("sparse_tensor({}", onnx_name(t.dtype));
      dims(t.dims);
      out_ += ')';
      break;
    case Type::Kind::kSequence:
      out_ += "seq(", element(), out_ += ')';
      break;
    case Type::Kind::kOptional:
      out_ += "optional(", element(), out_ += ')';
      break;
    case Type::Kind::kMap:
      put("map({}{}", onnx_name(t.dtype), t.element ? ", " : "");
      element(), out_ += ')';
      break;
    case Type::Kind::kOpaque:
      out_ += "opaque()";
      break;
  }
}

void TextWriter::tensor_type(DType dtype, const Shape& shape) {
  out_ += onnx_name(dtype);
  if (!shape.empty()) put("[{}]", fmt::join(shape.dims(), ", "));
}

/// `{...}`: numbers; bits as unsigned numbers for narrow floats, bytes for types whose elements share them.
void TextWriter::constant(const UnalignedTensor& tensor) {
  const Tensor t = tensor.aligned();
  const auto numbers = [&]<typename T>(T) {
    elements(static_cast<const T*>(t.data()), static_cast<int64_t>(t.nbytes() / sizeof(T)),
             [&](T v) { put("{}", v); });
  };
  out_ += '{';
  switch (t.dtype()) {
    case DType::kFloat32:
    case DType::kComplex64:
      numbers(float{});
      break;
    case DType::kFloat64:
    case DType::kComplex128:
      numbers(double{});
      break;
    case DType::kString:
      elements(t.data<std::string>(), t.numel(), [&](const std::string& s) { out_ += text_string(s); });
      break;
    case DType::kInt8:
      numbers(int8_t{});
      break;
    case DType::kInt16:
      numbers(int16_t{});
      break;
    case DType::kInt32:
      numbers(int32_t{});
      break;
    case DType::kInt64:
      numbers(int64_t{});
      break;
    case DType::kUInt32:
      numbers(uint32_t{});
      break;
    case DType::kUInt64:
      numbers(uint64_t{});
      break;
    default:
      if (bit_width(t.dtype()) == 16) {
        numbers(uint16_t{});
      } else if (spans_bytes(t.dtype())) {
        std::vector<uint8_t> codes(static_cast<size_t>(t.numel()));
        unpack_bits(static_cast<const uint8_t*>(t.data()), 0, bit_width(t.dtype()), codes);
        elements(codes.data(), t.numel(), [&](uint8_t v) { put("{}", v); });
      } else {
        numbers(uint8_t{});
      }
  }
  out_ += '}';
}

void TextWriter::tensor(const UnalignedTensor& t) {
  tensor_type(t.dtype(), t.shape());
  out_ += ' ';
  constant(t);
}

void TextWriter::sparse(const Attribute::Sparse& s) {
  out_ += "sparse_tensor(";
  tensor_type(s.values.dtype(), Shape(s.dims));
  out_ += ") {";
  annotate_bits(s.values);
  tensor(s.values);
  out_ += ", ";
  tensor(s.indices);
  out_ += '}';
}

void TextWriter::initializer_data(const Value& v) {
  out_ += " = ";
  const UnalignedTensor& t = v.tensor();
  if (!t.defined()) {
    require(options_.max_elements >= 0, ErrorCode::kInvalidArgument,
            "the data of initializer '{}' were not loaded and cannot be written", v.name());
    out_ += "{...}";
    return;
  }
  if (options_.place)
    if (const auto place = options_.place(v)) {
      Metadata entries = {{"location", place->location},
                          {"offset", std::to_string(place->offset)},
                          {"length", std::to_string(place->length)}};
      if (!place->checksum.empty()) entries.emplace_back("checksum", place->checksum);
      pairs(entries);
      return;
    }
  constant(t);
}

/// A value of a list, with its type and, for an initializer, its data.
void TextWriter::value(const Value& v, bool is_initializer) {
  if (!v.doc_string.empty()) annotate(onnx::kDocAnnotation, {v.doc_string});
  annotate_metadata(v.metadata);
  annotate_denotations(v.type);
  if (!is_initializer) {
    type(v.type);
  } else if (v.tensor().defined()) {
    annotate_bits(v.tensor());
    tensor_type(v.tensor().dtype(), v.tensor().shape());
  } else {
    type(v.type);
  }
  if (out_.back() != ' ' && out_.back() != '\n' && out_.back() != '(' && out_.back() != '<') out_ += ' ';
  out_ += text_name(v.name());
  if (is_initializer) initializer_data(v);
}

}  // namespace assay
