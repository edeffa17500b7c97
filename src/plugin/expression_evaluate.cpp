// Evaluates expressions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/error.h"
#include "ops/op_set.h"
#include "ops/schema.h"
#include "plugin/expression_term.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Term = ExpressionTerm;
using List = ExpressionValue::List;

/// Constants with more elements are not parameters.
constexpr int64_t kMaxElements = 1024;

std::optional<double> number_of(const ExpressionValue& v) {
  if (const auto* i = v.get_if<int64_t>()) return static_cast<double>(*i);
  if (const auto* d = v.get_if<double>()) return *d;
  return std::nullopt;
}

double number(const ExpressionValue& v, std::string_view user) {
  if (const auto d = number_of(v)) return *d;
  fail(ErrorCode::kInvalidArgument, "{} takes numbers, not {}", user, v.kind());
}

int64_t to_integer(double d, std::string_view user) {
  if (!(d >= -0x1p63 && d < 0x1p63))
    fail(ErrorCode::kInvalidArgument, "the result of {} does not fit in 64 bits", user);
  return static_cast<int64_t>(d);
}

// ---- operators

int64_t integer_result(std::string_view sign, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflows = false;
  if (sign == "+") {
    overflows = __builtin_add_overflow(a, b, &r);
  } else if (sign == "-") {
    overflows = __builtin_sub_overflow(a, b, &r);
  } else if (sign == "*") {
    overflows = __builtin_mul_overflow(a, b, &r);
  } else {
    // As in Python: the quotient is rounded down and the remainder has the divisor's sign.
    if (b == 0) fail(ErrorCode::kInvalidArgument, "{} divides by zero", sign);
    if (b == -1) {
      overflows = sign == "//" && __builtin_sub_overflow(int64_t{0}, a, &r);
    } else {
      const bool down = a % b != 0 && (a < 0) != (b < 0);
      r = sign == "//" ? a / b - (down ? 1 : 0) : a % b + (down ? b : 0);
    }
  }
  if (overflows) fail(ErrorCode::kInvalidArgument, "{} {} {} does not fit in 64 bits", a, sign, b);
  return r;
}

ExpressionValue arithmetic(std::string_view sign, const ExpressionValue& a, const ExpressionValue& b) {
  const auto *i = a.get_if<int64_t>(), *k = b.get_if<int64_t>();
  if (i != nullptr && k != nullptr && sign != "/") return integer_result(sign, *i, *k);
  if (sign == "+") {
    const auto *s = a.get_if<std::string>(), *t = b.get_if<std::string>();
    if (s != nullptr && t != nullptr) return *s + *t;
  }
  const double x = number(a, sign), y = number(b, sign);
  if (sign == "+") return x + y;
  if (sign == "-") return x - y;
  if (sign == "*") return x * y;
  if (y == 0) fail(ErrorCode::kInvalidArgument, "{} divides by zero", sign);
  if (sign == "/") return x / y;
  const double quotient = std::floor(x / y);
  return sign == "//" ? quotient : x - quotient * y;
}

bool equal(const ExpressionValue& a, const ExpressionValue& b) {
  if (a.get_if<std::monostate>() != nullptr || b.get_if<std::monostate>() != nullptr)
    fail(ErrorCode::kInvalidArgument, "an extent that is not known is compared");
  const auto *i = a.get_if<int64_t>(), *k = b.get_if<int64_t>();
  if (i != nullptr && k != nullptr) return *i == *k;
  const auto x = number_of(a), y = number_of(b);
  if (x && y) return *x == *y;
  const auto *l = a.get_if<List>(), *m = b.get_if<List>();
  if (l != nullptr && m != nullptr)
    return l->size() == m->size() && std::equal(l->begin(), l->end(), m->begin(), equal);
  if (a.data().index() != b.data().index()) return false;
  if (const auto* s = a.get_if<std::string>()) return *s == *b.get_if<std::string>();
  return *a.get_if<bool>() == *b.get_if<bool>();
}

bool less(std::string_view sign, const ExpressionValue& a, const ExpressionValue& b) {
  const auto *i = a.get_if<int64_t>(), *k = b.get_if<int64_t>();
  if (i != nullptr && k != nullptr) return *i < *k;
  const auto *s = a.get_if<std::string>(), *t = b.get_if<std::string>();
  if (s != nullptr && t != nullptr) return *s < *t;
  return number(a, sign) < number(b, sign);
}

bool compare(std::string_view sign, const ExpressionValue& a, const ExpressionValue& b) {
  if (sign == "==") return equal(a, b);
  if (sign == "!=") return !equal(a, b);
  if (sign == "<") return less(sign, a, b);
  if (sign == ">") return less(sign, b, a);
  if (sign == "<=") return less(sign, a, b) || equal(a, b);
  if (sign == ">=") return less(sign, b, a) || equal(a, b);
  const auto* list = b.get_if<List>();
  if (list == nullptr) fail(ErrorCode::kInvalidArgument, "'in' looks in a list, not in {}", b.kind());
  return std::any_of(list->begin(), list->end(), [&](const ExpressionValue& v) { return equal(a, v); });
}

bool truth(const ExpressionValue& v, std::string_view user) {
  if (const bool* b = v.get_if<bool>()) return *b;
  fail(ErrorCode::kInvalidArgument, "'{}' takes true and false, not {}", user, v.kind());
}

ExpressionValue binary(const Term& t, const ExpressionScope& scope) {
  const std::string_view sign = t.name;
  const ExpressionValue a = evaluate_term(t.operands[0], scope);
  // The second operand may be valid only if the first is true.
  if (sign == "and") return truth(a, sign) && truth(evaluate_term(t.operands[1], scope), sign);
  if (sign == "or") return truth(a, sign) || truth(evaluate_term(t.operands[1], scope), sign);
  const ExpressionValue b = evaluate_term(t.operands[1], scope);
  if (sign == "+" || sign == "-" || sign == "*" || sign == "/" || sign == "//" || sign == "%")
    return arithmetic(sign, a, b);
  return compare(sign, a, b);
}

ExpressionValue unary(const Term& t, const ExpressionScope& scope) {
  const ExpressionValue v = evaluate_term(t.operands[0], scope);
  if (t.name == "not") return !truth(v, "not");
  if (const auto* i = v.get_if<int64_t>()) return integer_result("-", 0, *i);
  return -number(v, "-");
}

ExpressionValue element(const Term& t, const ExpressionScope& scope) {
  const ExpressionValue whole = evaluate_term(t.operands[0], scope);
  const ExpressionValue at = evaluate_term(t.operands[1], scope);
  const auto* list = whole.get_if<List>();
  const auto* index = at.get_if<int64_t>();
  if (list == nullptr || index == nullptr)
    fail(ErrorCode::kInvalidArgument, "an index needs a list and an integer, not {} and {}", whole.kind(),
         at.kind());
  const auto size = static_cast<int64_t>(list->size());
  const int64_t place = *index < 0 ? *index + size : *index;
  if (place < 0 || place >= size)
    fail(ErrorCode::kInvalidArgument, "the index {} is beyond a list of {}", *index, size);
  return (*list)[static_cast<size_t>(place)];
}

// ---- values of a match

List integer_elements(const Tensor& t) {
  List list;
  for (const int64_t v : t.to_int64()) {
    if (t.dtype() == DType::kUInt64 && v < 0)
      fail(ErrorCode::kInvalidArgument, "{} is beyond 63 bits", static_cast<uint64_t>(v));
    list.emplace_back(t.dtype() == DType::kBool ? ExpressionValue(v != 0) : ExpressionValue(v));
  }
  return list;
}

/// The elements as a list; that of a tensor without dimensions alone.
ExpressionValue tensor_value(const UnalignedTensor& stored, std::string_view name) {
  if (stored.numel() > kMaxElements)
    fail(ErrorCode::kInvalidArgument, "'{}' has {} elements; values of up to {} can be used", name,
         stored.numel(), kMaxElements);
  if (is_complex(stored.dtype())) fail(ErrorCode::kInvalidArgument, "'{}' is complex", name);
  const Tensor t = stored.aligned();
  List list;
  if (t.dtype() == DType::kString) {
    for (const std::string& text : t.span<std::string>()) list.emplace_back(text);
  } else if (is_float(t.dtype())) {
    const Tensor numbers = to_float64(t);
    for (const double d : numbers.span<double>()) list.emplace_back(d);
  } else {
    list = integer_elements(t);
  }
  if (t.shape().rank() == 0) return list[0];
  return list;
}

template <typename T, typename U>
List list_of(const std::vector<T>& values) {
  List list;
  for (const T& v : values) list.emplace_back(static_cast<U>(v));
  return list;
}

ExpressionValue attribute_value(const Attribute::Data& data, std::string_view name) {
  if (const auto* f = std::get_if<float>(&data)) return static_cast<double>(*f);
  if (const auto* i = std::get_if<int64_t>(&data)) return *i;
  if (const auto* s = std::get_if<std::string>(&data)) return *s;
  if (const auto* t = std::get_if<UnalignedTensor>(&data)) return tensor_value(*t, name);
  if (const auto* list = std::get_if<std::vector<float>>(&data)) return list_of<float, double>(*list);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&data)) return list_of<int64_t, int64_t>(*list);
  if (const auto* list = std::get_if<std::vector<std::string>>(&data))
    return list_of<std::string, std::string>(*list);
  fail(ErrorCode::kInvalidArgument, "the attribute '{}' is neither a number nor text nor a list of such",
       name);
}

/// The node's attribute, else the schema's default; null when there is neither.
const Attribute::Data* find_attribute(const Term& t, const ExpressionScope& scope) {
  const Node& n = *scope.node(t.name);
  if (const Attribute* a = n.find_attribute(t.member)) {
    if (!a->ref_attr_name.empty())
      fail(ErrorCode::kInvalidArgument,
           "the attribute '{}' of {} is set by the calls of the function that it is in", t.member, n.label());
    return &a->data;
  }
  const OpDef* op = ops_of(scope.model()).find(n.domain, n.op_type);
  const OpVersion* version = op != nullptr ? version_for(*op, scope.model().opset(n.domain)) : nullptr;
  const AttributeDef* def = version != nullptr ? schema_of(*version).attribute(t.member) : nullptr;
  return def != nullptr && def->fallback ? &*def->fallback : nullptr;
}

const Value& tensor_of(const Term& t, const ExpressionScope& scope) {
  const Value* v = scope.tensor(t.name);
  if (v == nullptr) fail(ErrorCode::kInvalidArgument, "the tensor '{}' is left out here", t.name);
  return *v;
}

const Type& tensor_type(const Value& v) {
  if (!v.type.is_tensor())
    fail(ErrorCode::kInvalidArgument, "the type of '{}' is not known to be a tensor", v.name());
  return v.type;
}

const Dims& dims_of(const Value& v) {
  const Type& type = tensor_type(v);
  if (!type.has_shape()) fail(ErrorCode::kInvalidArgument, "the shape of '{}' is not known", v.name());
  return *type.dims;
}

ExpressionValue shape_value(const Value& v) {
  List list;
  for (const Dim& d : dims_of(v)) {
    if (d.is_known())
      list.emplace_back(d.value());
    else if (d.is_symbol())
      list.emplace_back(d.symbol());
    else
      list.emplace_back();
  }
  return list;
}

ExpressionValue dtype_value(const Value& v) {
  const DType dtype = tensor_type(v).dtype;
  if (dtype == DType::kUndefined)
    fail(ErrorCode::kInvalidArgument, "the element type of '{}' is not known", v.name());
  return std::string(dtype_name(dtype));
}

ExpressionValue constant_value(const Value& v) {
  if (v.tensor().defined()) return tensor_value(v.tensor(), v.name());
  const Node* producer = v.producer();
  const Attribute* a =
      producer != nullptr && producer->op_type == "Constant" ? producer->find_attribute("value") : nullptr;
  if (a == nullptr || a->get_if<UnalignedTensor>() == nullptr)
    fail(ErrorCode::kInvalidArgument, "the tensor '{}' has no known value", v.name());
  return tensor_value(*a->get_if<UnalignedTensor>(), v.name());
}

// ---- functions

constexpr FunctionDef kFunctions[] = {
    {"shape", ArgumentKind::kTensor}, {"rank", ArgumentKind::kTensor},   {"dtype", ArgumentKind::kTensor},
    {"value", ArgumentKind::kTensor}, {"has", ArgumentKind::kAttribute}, {"len", ArgumentKind::kValues},
    {"min", ArgumentKind::kValues},   {"max", ArgumentKind::kValues},    {"sum", ArgumentKind::kValues},
    {"prod", ArgumentKind::kValues},  {"int", ArgumentKind::kValues},    {"float", ArgumentKind::kValues},
    {"abs", ArgumentKind::kValues},   {"sqrt", ArgumentKind::kValues},
};

ExpressionValue tensor_function(std::string_view name, const Value& v) {
  if (name == "shape") return shape_value(v);
  if (name == "rank") return static_cast<int64_t>(dims_of(v).size());
  if (name == "dtype") return dtype_value(v);
  return constant_value(v);
}

ExpressionValue fold(std::string_view name, const List& list) {
  if (name == "len") return static_cast<int64_t>(list.size());
  if (name == "sum" || name == "prod") {
    ExpressionValue total = int64_t{name == "sum" ? 0 : 1};
    for (const ExpressionValue& v : list) total = arithmetic(name == "sum" ? "+" : "*", total, v);
    return total;
  }
  if (list.empty()) fail(ErrorCode::kInvalidArgument, "{} of an empty list", name);
  ExpressionValue best = list[0];
  for (const ExpressionValue& v : list)
    if (name == "min" ? less("min", v, best) : less("max", best, v)) best = v;
  return best;
}

ExpressionValue one_number(std::string_view name, const ExpressionValue& v) {
  const auto* i = v.get_if<int64_t>();
  if (name == "int") return i != nullptr ? *i : to_integer(number(v, name), name);
  if (name == "float") return number(v, name);
  if (name == "abs") {
    if (i == nullptr) return std::abs(number(v, name));
    return *i < 0 ? integer_result("-", 0, *i) : *i;
  }
  const double d = number(v, name);
  if (d < 0) fail(ErrorCode::kInvalidArgument, "sqrt of {}", d);
  return std::sqrt(d);
}

ExpressionValue call(const Term& t, const ExpressionScope& scope) {
  const std::string_view name = t.name;
  if (name == "has") return find_attribute(t.operands[0], scope) != nullptr;
  if (find_function(name)->arguments == ArgumentKind::kTensor)
    return tensor_function(name, tensor_of(t.operands[0], scope));
  List values;
  for (const Term& operand : t.operands) values.push_back(evaluate_term(operand, scope));
  if (name == "int" || name == "float" || name == "abs" || name == "sqrt") {
    if (values.size() != 1)
      fail(ErrorCode::kInvalidArgument, "{} takes one number, not {} values", name, values.size());
    return one_number(name, values[0]);
  }
  // One list, or the values themselves.
  if (values.size() == 1 && values[0].get_if<List>() != nullptr) return fold(name, *values[0].get_if<List>());
  if (name == "len") fail(ErrorCode::kInvalidArgument, "len takes one list");
  return fold(name, values);
}

}  // namespace

const FunctionDef* find_function(std::string_view name) {
  for (const FunctionDef& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

ExpressionValue evaluate_term(const Term& t, const ExpressionScope& scope) {
  switch (t.kind) {
    case Term::Kind::kLiteral:
      return t.value;
    case Term::Kind::kList: {
      List list;
      for (const Term& operand : t.operands) list.push_back(evaluate_term(operand, scope));
      return list;
    }
    case Term::Kind::kAttribute: {
      const Attribute::Data* data = find_attribute(t, scope);
      if (data == nullptr)
        fail(ErrorCode::kInvalidArgument, "{} has no attribute '{}', and its operator no default for it",
             scope.node(t.name)->label(), t.member);
      return attribute_value(*data, t.member);
    }
    case Term::Kind::kTensor:
      break;  // only as the argument of a function
    case Term::Kind::kCall:
      return call(t, scope);
    case Term::Kind::kIndex:
      return element(t, scope);
    case Term::Kind::kUnary:
      return unary(t, scope);
    case Term::Kind::kBinary:
      return binary(t, scope);
  }
  fail(ErrorCode::kInternal, "a tensor stands where a value belongs");
}

}  // namespace assay
