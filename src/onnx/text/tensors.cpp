#include "onnx/text/tensors.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "assay/dtype.h"
#include "assay/error.h"
#include "assay/shape.h"
#include "base/base64.h"
#include "onnx/text/syntax.h"
#include "tensor/packed_bits.h"

namespace assay::onnx {
namespace {

/// A number by strtof or strtod; one that is too small is 0 or subnormal, one too large for `type` an error.
template <typename Convert>
auto read_real(Lexer& lexer, std::string_view type, Convert convert) {
  const Token t = lexer.peek();
  const bool is_number = t.kind == Token::Kind::kInteger || t.kind == Token::Kind::kFloat ||
                         (t.kind == Token::Kind::kIdentifier && is_text_float_word(t.text));
  if (!is_number) lexer.fail_expected(fmt::format("a number in {}", type));
  errno = 0;
  const auto value = convert(std::string(t.text).c_str());
  if (errno == ERANGE && (value > 1 || value < -1))
    lexer.fail_at(t.at, fmt::format("{} is too large for {}", t.text, type));
  lexer.take();
  return value;
}

/// The elements of one constant, one by one.
class ElementReader {
 public:
  ElementReader(Lexer& lexer, DType dtype, size_t count, std::string type_name)
      : lexer_(lexer), dtype_(dtype), count_(count), type_name_(std::move(type_name)) {}

  /// `{a, b, ...}`.
  void read() {
    lexer_.expect('{', "before the elements of a tensor");
    size_t given = 0;
    if (!lexer_.peek().is('}')) {
      do {
        if (given == count_)
          lexer_.fail_at(lexer_.peek().at, fmt::format("{} {}, but more are given", type_name_, needs()));
        element();
        ++given;
      } while (lexer_.accept(','));
    }
    const size_t end = lexer_.peek().at;
    lexer_.expect('}', "or ',' after an element");
    if (given != count_) lexer_.fail_at(end, fmt::format("{} {}, but has {}", type_name_, needs(), given));
  }

  std::string raw;                   ///< as in raw_data
  std::vector<std::string> strings;  ///< instead of it

 private:
  std::string needs() const {
    const char* what = spans_bytes(dtype_)  ? "element(s)"
                       : is_packed(dtype_)  ? "bytes (its elements are packed)"
                       : is_complex(dtype_) ? "numbers (real and imaginary parts)"
                                            : "element(s)";
    return fmt::format("needs {} {}", count_, what);
  }

  template <typename T>
  void push(T value) {
    raw.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <typename T>
  void integer(T least = std::numeric_limits<T>::min(), T most = std::numeric_limits<T>::max()) {
    const Token t = lexer_.peek();
    if (t.kind != Token::Kind::kInteger) lexer_.fail_expected(fmt::format("an integer in {}", type_name_));
    T value{};
    const auto [end, ec] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    if (ec != std::errc() || end != t.text.data() + t.text.size() || value < least || value > most)
      lexer_.fail_at(t.at, fmt::format("{} is not an element of {}, which lie between {} and {}", t.text,
                                       type_name_, least, most));
    lexer_.take();
    push(value);
  }
  void real(bool is_double) {
    if (is_double)
      push(read_real(lexer_, type_name_, [](const char* text) { return std::strtod(text, nullptr); }));
    else
      push(read_real(lexer_, type_name_, [](const char* text) { return std::strtof(text, nullptr); }));
  }
  void string() {
    const Token t = lexer_.peek();
    if (t.kind != Token::Kind::kString) lexer_.fail_expected(fmt::format("a string in {}", type_name_));
    strings.push_back(lexer_.string_value(t));
    lexer_.take();
  }

  void element() {
    switch (dtype_) {
      case DType::kFloat32:
      case DType::kComplex64:
        return real(false);
      case DType::kFloat64:
      case DType::kComplex128:
        return real(true);
      case DType::kString:
        return string();
      case DType::kInt8:
        return integer<int8_t>();
      case DType::kInt16:
        return integer<int16_t>();
      case DType::kInt32:
        return integer<int32_t>();
      case DType::kInt64:
        return integer<int64_t>();
      case DType::kUInt32:
        return integer<uint32_t>();
      case DType::kUInt64:
        return integer<uint64_t>();
      case DType::kBool:
        return integer<uint8_t>(0, 1);
      default:  // bit patterns
        if (bit_width(dtype_) == 16) return integer<uint16_t>();
        return spans_bytes(dtype_) ? integer<uint8_t>(0, 63) : integer<uint8_t>();
    }
  }

  Lexer& lexer_;
  DType dtype_;
  size_t count_;
  std::string type_name_;
};

/// float[2, 3], for messages.
std::string name_of(const TextType& type) {
  std::string text(onnx_name(static_cast<DType>(type.element_type)));
  if (!type.dims || type.dims->empty()) return text;
  for (size_t i = 0; i < type.dims->size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "[" : ", ", (*type.dims)[i]);
  return text + "]";
}

/// The number of elements that the type says.
int64_t element_count(const Lexer& lexer, const TextType& type, size_t type_at) {
  if (type.element_type == 0 || !type.dims)
    lexer.fail_at(type_at, "the type of a constant needs an element type and numbers as extents");
  int64_t count = 0;
  try {
    count = Shape(*type.dims).numel();
  } catch (const Error& e) {
    lexer.fail_at(type_at, e.message());
  }
  if (count > INT64_MAX / 16) lexer.fail_at(type_at, name_of(type) + " is absurdly large");
  return count;
}

/// Entries of the element list: types that share bytes are given as bytes, complex numbers as two numbers
/// each.
size_t entry_count(DType dtype, int64_t elements) {
  if (is_packed(dtype) && !spans_bytes(dtype)) return storage_bytes(dtype, elements);
  return static_cast<size_t>(elements) * (is_complex(dtype) ? 2 : 1);
}

void read_elements(Lexer& lexer, const TextType& type, size_t type_at, const Notes& notes, MessageWriter& w) {
  const auto dtype = static_cast<DType>(type.element_type);
  const int64_t count = element_count(lexer, type, type_at);
  ElementReader elements(lexer, dtype, entry_count(dtype, count), name_of(type));
  elements.read();
  if (spans_bytes(dtype)) {
    const std::vector<uint8_t> codes(elements.raw.begin(), elements.raw.end());
    elements.raw.resize(storage_bytes(dtype, count));
    pack_bits(codes, bit_width(dtype), reinterpret_cast<uint8_t*>(elements.raw.data()));
  }
  if (notes.has_data) {
    if (dtype == DType::kString || notes.data.size() != storage_bytes(dtype, count))
      lexer.fail_at(type_at, fmt::format("the annotation 'data' holds {} bytes, but {} needs {}",
                                         notes.data.size(), name_of(type), storage_bytes(dtype, count)));
    elements.raw = notes.data;
  }
  if (dtype == DType::kString)
    for (const std::string& s : elements.strings) w.text(6, s);
  else
    w.text(9, elements.raw);
}

}  // namespace

Notes claim_notes(Lexer& lexer, std::string_view thing, std::initializer_list<std::string_view> allowed) {
  Notes notes;
  for (Annotation& a : lexer.claim_annotations()) {
    if (std::find(allowed.begin(), allowed.end(), a.key) == allowed.end())
      lexer.fail_at(a.at, fmt::format("{} has no annotation '{}'", thing, a.key));
    if (a.key == kDocAnnotation) notes.doc_string = std::move(a.values[0]);
    if (a.key == kMetadataAnnotation)
      notes.metadata.emplace_back(std::move(a.values[0]), std::move(a.values[1]));
    if (a.key == kDenotationAnnotation) notes.denotations = std::move(a.values);
    if (a.key != kDataAnnotation) continue;
    notes.has_data = true;
    try {
      notes.data = base64_decode(a.values[0]);
    } catch (const Error& e) {
      lexer.fail_at(a.at, e.message());
    }
  }
  return notes;
}

void write_pairs(MessageWriter& w, uint32_t field,
                 const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const auto& [key, value] : pairs) {
    MessageWriter entry;
    entry.text(1, key);
    entry.text(2, value);
    w.message(field, entry);
  }
}

std::vector<std::pair<std::string, std::string>> read_pairs(Lexer& lexer) {
  std::vector<std::pair<std::string, std::string>> pairs;
  lexer.expect('[', "before \"key\": \"value\" pairs");
  const auto string = [&](std::string_view what) {
    if (lexer.peek().kind != Token::Kind::kString) lexer.fail_expected(what);
    return lexer.string_value(lexer.take());
  };
  if (lexer.accept(']')) return pairs;
  do {
    std::string key = string("a key in quotes");
    lexer.expect(':', "after a key");
    pairs.emplace_back(std::move(key), string("a value in quotes"));
  } while (lexer.accept(','));
  lexer.expect(']', "or ',' after a pair");
  return pairs;
}

float read_float(Lexer& lexer) {
  return read_real(lexer, "float", [](const char* text) { return std::strtof(text, nullptr); });
}

int64_t read_integer(Lexer& lexer) {
  const Token t = lexer.peek();
  if (t.kind != Token::Kind::kInteger) lexer.fail_expected("an integer");
  int64_t value = 0;
  if (std::from_chars(t.text.data(), t.text.data() + t.text.size(), value).ec != std::errc())
    lexer.fail_at(t.at, fmt::format("{} does not fit in 64 bits", t.text));
  lexer.take();
  return value;
}

MessageWriter read_tensor_constant(Lexer& lexer, const TextType& type, size_t type_at, std::string_view name,
                                   const Notes& notes) {
  if (type.kind != 1) lexer.fail_at(type_at, "a constant needs a tensor type");
  MessageWriter w;
  (void)element_count(lexer, type, type_at);
  for (const int64_t d : *type.dims) w.integer(1, d);
  w.integer(2, type.element_type);
  w.text_if(8, name);
  w.text_if(12, notes.doc_string);
  write_pairs(w, 16, notes.metadata);
  if (lexer.peek().is('[')) {
    write_pairs(w, 13, read_pairs(lexer));
    w.integer(14, 1);
  } else {
    read_elements(lexer, type, type_at, notes, w);
  }
  return w;
}

MessageWriter read_sparse_constant(Lexer& lexer, const TextType& type, size_t type_at,
                                   std::string_view name) {
  if (type.kind != 8 || !type.dims)
    lexer.fail_at(type_at, "a sparse constant needs a type sparse_tensor() with numbers as extents");
  const auto part = [&](std::string_view part_name) {
    const Notes notes = claim_notes(lexer, "a part of a sparse tensor", {kDataAnnotation});
    const size_t at = lexer.peek().at;
    const TextType part_type = read_type(lexer);
    lexer.accept('=');
    return read_tensor_constant(lexer, part_type, at, part_name, notes);
  };
  MessageWriter w;
  lexer.expect('{', "before the values and indices of a sparse tensor");
  w.message(1, part(name));
  lexer.expect(',', "after the values of a sparse tensor");
  w.message(2, part({}));
  lexer.expect('}', "after the indices of a sparse tensor");
  for (const int64_t d : *type.dims) w.integer(3, d);
  return w;
}

}  // namespace assay::onnx
