#include "reference/type_match.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "assay/error.h"

namespace assay {
namespace {

/// Reads an expression.
class Expression {
 public:
  Expression(std::string_view text, const std::map<std::string, int64_t, std::less<>>& known)
      : text_(text), known_(known) {}

  std::optional<int64_t> value() {
    const std::optional<int64_t> v = sum();
    return text_.empty() ? v : std::nullopt;
  }

 private:
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  char take() {
    const char c = peek();
    if (!text_.empty()) text_.remove_prefix(1);
    return c;
  }
  std::optional<int64_t> sum() {
    std::optional<int64_t> v = product();
    while (v && (peek() == '+' || peek() == '-')) {
      const bool plus = take() == '+';
      const std::optional<int64_t> w = product();
      if (!w) return std::nullopt;
      int64_t r = 0;
      if (plus ? __builtin_add_overflow(*v, *w, &r) : __builtin_sub_overflow(*v, *w, &r)) return std::nullopt;
      v = r;
    }
    return v;
  }
  std::optional<int64_t> product() {
    std::optional<int64_t> v = factor();
    while (v && (peek() == '*' || peek() == '/')) {
      const bool times = take() == '*';
      const std::optional<int64_t> w = factor();
      if (!w || (!times && *w <= 0)) return std::nullopt;
      int64_t r = 0;
      if (!times) r = *v / *w - (*v % *w < 0 ? 1 : 0);
      if (times && __builtin_mul_overflow(*v, *w, &r)) return std::nullopt;
      v = r;
    }
    return v;
  }
  std::optional<int64_t> factor() {
    if (peek() == '(') {
      take();
      const std::optional<int64_t> v = sum();
      return take() == ')' ? v : std::nullopt;
    }
    const size_t length = std::min(text_.find_first_of("+-*/()"), text_.size());
    const std::string_view word = text_.substr(0, length);
    text_.remove_prefix(length);
    if (const auto it = known_.find(word); it != known_.end()) return it->second;
    int64_t number = 0;
    const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (ec != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
  }

  std::string_view text_;
  const std::map<std::string, int64_t, std::less<>>& known_;
};

/// The type without symbols. Those in the type of a sequence's elements differ from element to element.
Type without_symbols(Type type) {
  if (type.element) type.element = std::make_shared<const Type>(without_symbols(*type.element));
  if (type.dims)
    for (Dim& d : *type.dims)
      if (d.is_symbol()) d = Dim();
  return type;
}

}  // namespace

std::optional<int64_t> Symbols::value(std::string_view text) const {
  if (const auto it = known_.find(text); it != known_.end()) return it->second;
  return Expression(text, known_).value();
}

namespace {

std::string mismatch(const Type& type, const Tensor& value) {
  return fmt::format("{} was inferred, but {}{} was computed", type.str(), dtype_name(value.dtype()),
                     value.shape().str());
}

DType container_of(Type::Kind kind) {
  switch (kind) {
    case Type::Kind::kSequence:
      return DType::kSequence;
    case Type::Kind::kOptional:
      return DType::kOptional;
    case Type::Kind::kMap:
      return DType::kMap;
    default:
      return DType::kUndefined;
  }
}

std::string contradiction_of_container(const Type& type, const Tensor& value, Symbols& symbols) {
  if (container_of(type.kind) != value.dtype()) return mismatch(type, value);
  if (!type.element || value.dtype() == DType::kMap) return {};
  const Type element = without_symbols(*type.element);
  for (const Tensor& e : value.elements())
    if (std::string d = contradiction(element, e, symbols); !d.empty()) return d;
  return {};
}

std::string contradiction_of_extents(const Type& type, const Tensor& value, Symbols& symbols) {
  for (size_t i = 0; i < type.dims->size(); ++i) {
    const Dim& d = (*type.dims)[i];
    if (d.is_known() && d.value() != value.dim(i)) return mismatch(type, value);
    if (!d.is_symbol()) continue;
    const std::optional<int64_t> v = symbols.value(d.symbol());
    if (v && *v != value.dim(i))
      return fmt::format("{}, where '{}' is {}", mismatch(type, value), d.symbol(), *v);
    if (!v) symbols.bind(d.symbol(), value.dim(i));
  }
  return {};
}

}  // namespace

std::string contradiction(const Type& type, const Tensor& value, Symbols& symbols) {
  if (type.kind == Type::Kind::kUnknown) return {};
  if (value.is_container()) return contradiction_of_container(type, value, symbols);
  if (!type.is_tensor() || (type.dtype != DType::kUndefined && type.dtype != value.dtype()))
    return mismatch(type, value);
  if (!type.dims) return {};
  if (type.dims->size() != value.shape().size()) return mismatch(type, value);
  return contradiction_of_extents(type, value, symbols);
}

}  // namespace assay
