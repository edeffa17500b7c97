#include "tensor/print_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "tensor/convert.h"
#include "tensor/float_text.h"
#include "tensor/half.h"

namespace assay::internal {
namespace {

/// Rounds to the precision of the type, in which NumPy compares magnitudes.
double round_to(DType type, double x) {
  if (type == DType::kFloat16) return half_to_float(double_to_half(x));
  return type == DType::kFloat64 ? x : static_cast<float>(x);
}

size_t digits_after_first(const Decimal& d) { return d.digits.size() - 1; }

/// Reads the numbers of a floating tensor: their values, exactly, and their shortest digits. Of a complex
/// tensor, one part.
class PrintedNumbers {
 public:
  PrintedNumbers(const Tensor& t, int part = 0) : tensor_(t), part_(part) {
    if (bit_width(t.dtype()) < 32) wide_ = convert(t, DType::kFloat32);
  }

  int64_t size() const { return tensor_.numel(); }

  DType real_type() const {
    if (tensor_.dtype() == DType::kComplex64) return DType::kFloat32;
    return tensor_.dtype() == DType::kComplex128 ? DType::kFloat64 : tensor_.dtype();
  }

  double value(int64_t i) const {
    switch (tensor_.dtype()) {
      case DType::kFloat32:
        return tensor_.data<float>()[i];
      case DType::kFloat64:
        return tensor_.data<double>()[i];
      case DType::kComplex64:
        return static_cast<const float*>(tensor_.data())[2 * i + part_];
      case DType::kComplex128:
        return static_cast<const double*>(tensor_.data())[2 * i + part_];
      default:
        return wide_.data<float>()[i];
    }
  }

  Decimal digits(int64_t i) const {
    const DType type = real_type();
    if (type == DType::kFloat64) return shortest_decimal(value(i));
    if (type == DType::kFloat32) return shortest_decimal(static_cast<float>(value(i)));
    return shortest_decimal(type, code(i));
  }

  /// With `count` digits after the first. Where these are more than the fewest that identify the number, the
  /// digits still identify it: next to a power of two that may not be the nearest.
  Decimal digits_to(int64_t i, size_t count) const {
    const Decimal fewest = digits(i);
    if (digits_after_first(fewest) == count) return fewest;
    const Decimal nearest = rounded_decimal(value(i), static_cast<int>(count));
    if (digits_after_first(fewest) > count || identifies(nearest, i)) return nearest;
    for (const int step : {1, -1})
      if (const Decimal other = stepped_decimal(nearest, step); identifies(other, i)) return other;
    return nearest;
  }

  std::string scalar_text() const {
    const DType type = real_type();
    if (type == DType::kFloat64) return numpy_float_str(value(0));
    if (type == DType::kFloat32) return numpy_float_str(static_cast<float>(value(0)));
    return numpy_float_str(type, code(0));
  }

 private:
  /// True when the digits, read as a number of the type, give the element.
  bool identifies(const Decimal& d, int64_t i) const {
    const std::string text = scientific_text(d);
    const DType type = real_type();
    if (type == DType::kFloat32) {
      float read = 0;
      std::from_chars(text.data(), text.data() + text.size(), read);
      return read == static_cast<float>(value(i));
    }
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return (type == DType::kFloat16 ? round_to(type, read) : read) == value(i);
  }

  uint32_t code(int64_t i) const {
    return bit_width(tensor_.dtype()) == 16 ? static_cast<const uint16_t*>(tensor_.data())[i]
                                            : static_cast<const uint8_t*>(tensor_.data())[i];
  }

  const Tensor& tensor_;
  Tensor wide_;
  int part_;
};

/// From this magnitude on NumPy chooses scientific notation.
double largest_positional(DType type) {
  return type == DType::kFloat16 ? 1e3 : type == DType::kFloat32 ? 1e6 : 1e8;
}

void strip_zeros(std::string& digits, size_t keep) {
  while (digits.size() > keep && digits.back() == '0') digits.pop_back();
}

/// A finite number split at the point (and,
/// in scientific notation, its exponent).
struct Parts {
  std::string whole, fraction, exponent;
};

/// No finite number has more digits after the point.
constexpr int kMaxPrecision = 1100;

class FloatFormat {
 public:
  FloatFormat(PrintedNumbers numbers, const PrintOptions& options, bool plus_sign)
      : numbers_(std::move(numbers)),
        precision_(std::clamp(options.precision, 0, kMaxPrecision)),
        plus_(plus_sign) {
    choose_notation(options.suppress);
    bool any_finite = false, any_other = false, any_negative_infinity = false;
    for (int64_t i = 0; i < numbers_.size(); ++i) {
      const double v = numbers_.value(i);
      any_finite |= std::isfinite(v);
      any_other |= !std::isfinite(v);
      any_negative_infinity |= std::isinf(v) && v < 0;
    }
    if (any_finite) measure();
    if (any_other) {
      const size_t right = right_width() + 1;
      const size_t infinity = plus_ || any_negative_infinity ? 4 : 3;
      if (infinity > right) left_ = std::max(left_, infinity - right);
    }
  }

  std::string text(int64_t i) const {
    const double v = numbers_.value(i);
    if (!std::isfinite(v)) {
      const std::string_view sign = !std::isnan(v) && v < 0 ? "-" : plus_ ? "+" : "";
      const std::string word = std::string(sign) + (std::isnan(v) ? "nan" : "inf");
      const size_t width = left_ + right_width() + 1;
      return std::string(width > word.size() ? width - word.size() : 0, ' ') + word;
    }
    Parts p = scientific_ ? scientific_parts(numbers_.digits_to(i, right_)) : positional_parts(i);
    if (p.whole.size() < left_) p.whole.insert(0, left_ - p.whole.size(), ' ');
    if (!scientific_) return p.whole + "." + p.fraction + std::string(right_ - p.fraction.size(), ' ');
    p.fraction.append(right_ - p.fraction.size(), '0');
    const size_t sign = 1, zeros = exponent_digits_ + sign - p.exponent.size();
    p.exponent.insert(sign, zeros, '0');
    return p.whole + "." + p.fraction + "e" + p.exponent;
  }

 private:
  void choose_notation(bool suppress) {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < numbers_.size(); ++i) {
      const double v = std::fabs(numbers_.value(i));
      if (!std::isfinite(v) || v == 0) continue;
      largest = std::max(largest, v);
      smallest = std::min(smallest, v);
    }
    if (largest == 0) return;
    const DType type = numbers_.real_type();
    scientific_ =
        largest >= largest_positional(type) ||
        (!suppress && (smallest < round_to(type, 1e-4) || round_to(type, largest / smallest) > 1000));
  }

  /// The widths that fit every number shown.
  void measure() {
    for (int64_t i = 0; i < numbers_.size(); ++i) {
      if (!std::isfinite(numbers_.value(i))) continue;
      const Parts p = scientific_ ? short_scientific_parts(i) : positional_parts(i);
      left_ = std::max(left_, p.whole.size());
      right_ = std::max(right_, p.fraction.size());
      if (scientific_) exponent_digits_ = std::max(exponent_digits_, p.exponent.size() - 1);
    }
  }

  size_t right_width() const {
    return scientific_ && exponent_digits_ > 0 ? right_ + 2 + exponent_digits_ : right_;
  }

  std::string sign(const Decimal& d) const { return d.negative ? "-" : plus_ ? "+" : ""; }

  Parts scientific_parts(const Decimal& d) const {
    std::string exponent = std::to_string(std::abs(d.exponent));
    exponent.insert(0, exponent.size() < 2 ? "0" : "");
    return {sign(d) + d.digits.substr(0, 1), d.digits.substr(1), (d.exponent < 0 ? "-" : "+") + exponent};
  }

  /// The fewest digits, or as many as the precision allows, without zeros at the end.
  Parts short_scientific_parts(int64_t i) const {
    Decimal d = numbers_.digits(i);
    if (digits_after_first(d) > static_cast<size_t>(precision_))
      d = rounded_decimal(numbers_.value(i), precision_);
    strip_zeros(d.digits, 1);
    return scientific_parts(d);
  }

  Parts positional_parts(int64_t i) const {
    const Decimal d = numbers_.digits(i);
    const double v = std::fabs(numbers_.value(i));
    const int after_point = static_cast<int>(digits_after_first(d)) - d.exponent;
    std::string text;
    if (after_point <= precision_) {
      text = positional_text({false, d.digits, d.exponent});
    } else {
      constexpr size_t kMaxWholeDigits = 310;
      text.resize(kMaxWholeDigits + static_cast<size_t>(precision_) + 2);
      char* first = text.data();
      const char* end =
          std::to_chars(first, first + text.size(), v, std::chars_format::fixed, precision_).ptr;
      text.resize(static_cast<size_t>(end - first));
    }
    const size_t point = std::min(text.find('.'), text.size());
    Parts p{.whole = sign(d) + text.substr(0, point),
            .fraction = point < text.size() ? text.substr(point + 1) : ""};
    strip_zeros(p.fraction, 0);
    return p;
  }

  PrintedNumbers numbers_;
  int precision_;
  bool plus_;
  bool scientific_ = false;
  size_t left_ = 0, right_ = 0, exponent_digits_ = 0;
};

std::vector<std::string> float_texts(const Tensor& t, const PrintOptions& options) {
  const FloatFormat format(PrintedNumbers(t), options, false);
  std::vector<std::string> out;
  for (int64_t i = 0; i < t.numel(); ++i) out.push_back(format.text(i));
  return out;
}

std::vector<std::string> complex_texts(const Tensor& t, const PrintOptions& options) {
  const FloatFormat real(PrintedNumbers(t, 0), options, false),
      imaginary(PrintedNumbers(t, 1), options, true);
  std::vector<std::string> out;
  for (int64_t i = 0; i < t.numel(); ++i) {
    std::string text = imaginary.text(i);
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    out.push_back(real.text(i) + text);
  }
  return out;
}

/// Padded on the left to one width.
std::vector<std::string> word_texts(const Tensor& t) {
  const Tensor words = convert(t, DType::kString);
  const std::span<const std::string> span = words.span<std::string>();
  std::vector<std::string> out(span.begin(), span.end());
  size_t width = 0;
  for (const std::string& w : out) width = std::max(width, w.size());
  for (std::string& w : out) w.insert(0, width - w.size(), ' ');
  return out;
}

std::vector<std::string> string_texts(const Tensor& t) {
  std::vector<std::string> out;
  for (const std::string& s : t.span<std::string>()) out.push_back(python_str_repr(s));
  return out;
}

/// The types that NumPy has only through ml_dtypes, which prints each element by itself, with six digits.
bool is_foreign_to_numpy(DType t) {
  return is_packed(t) || (is_float(t) && bit_width(t) < 32 && t != DType::kFloat16);
}

std::vector<std::string> foreign_texts(const Tensor& t) {
  std::vector<std::string> out;
  const bool is_whole = is_integer(t.dtype());
  const Tensor numbers = convert(t, is_whole ? DType::kInt64 : DType::kFloat64);
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (is_whole) {
      out.push_back(std::to_string(numbers.data<int64_t>()[i]));
      continue;
    }
    const double v = numbers.data<double>()[i];
    out.push_back(std::isnan(v) ? "nan" : fmt::format("{:g}", v));
  }
  return out;
}

std::string complex_scalar_text(const Tensor& t) {
  // As Python: no parentheses around a number without real part, no point in whole parts.
  const auto part = [&](int k) {
    std::string s = PrintedNumbers(t, k).scalar_text();
    if (s.ends_with(".0")) s.resize(s.size() - 2);
    return s;
  };
  const std::string real = part(0), imaginary = part(1);
  if (real == "0") return imaginary + "j";
  const bool has_sign = imaginary.starts_with('-') || imaginary.starts_with('+');
  return "(" + real + (has_sign ? "" : "+") + imaginary + "j)";
}

}  // namespace

std::vector<std::string> element_texts(const Tensor& t, const PrintOptions& options) {
  if (t.dtype() == DType::kString) return string_texts(t);
  if (is_foreign_to_numpy(t.dtype())) return foreign_texts(t);
  if (is_complex(t.dtype())) return complex_texts(t, options);
  if (is_float(t.dtype())) return float_texts(t, options);
  std::vector<std::string> texts = word_texts(t);
  // NumPy pads booleans to the width of False even if none is False.
  if (t.dtype() == DType::kBool)
    for (std::string& s : texts) s.insert(0, s == "True" ? " " : "");
  return texts;
}

std::string scalar_text(const Tensor& t) {
  if (t.dtype() == DType::kString) return t.data<std::string>()[0];
  if (is_foreign_to_numpy(t.dtype())) return foreign_texts(t)[0];
  if (is_complex(t.dtype())) return complex_scalar_text(t);
  if (is_float(t.dtype())) return PrintedNumbers(t).scalar_text();
  return convert(t, DType::kString).data<std::string>()[0];
}

}  // namespace assay::internal
