#include "base/exact_sum.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "assay/error.h"

namespace assay {
namespace {

constexpr int kMantissaBits = 52;
constexpr int64_t kBase = int64_t{1} << 32;
/// So many additions of less than 2^32 to a digit cannot overflow it.
constexpr int32_t kMostPending = 1 << 30;

[[noreturn]] void refuse(std::string_view text) {
  fail(ErrorCode::kInvalidArgument, "'{}' is no exact sum", text.substr(0, 60));
}

}  // namespace

void ExactSum::add_bits(uint64_t mantissa, int shift, bool is_negative) {
  const int digit = shift / 32, within = shift % 32;
  const unsigned __int128 wide = static_cast<unsigned __int128>(mantissa) << within;
  for (int i = 0; i < 3; ++i) {
    const auto part = static_cast<int64_t>(static_cast<uint32_t>(wide >> (32 * i)));
    digits_[static_cast<size_t>(digit + i)] += is_negative ? -part : part;
  }
  if (++pending_ < kMostPending) return;
  carry(digits_);
  pending_ = 0;
}

void ExactSum::add(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto exponent = static_cast<int>((bits >> kMantissaBits) & 0x7FF);
  uint64_t mantissa = bits & ((uint64_t{1} << kMantissaBits) - 1);
  if (exponent != 0) mantissa |= uint64_t{1} << kMantissaBits;
  if (mantissa == 0) return;
  // The last bit of the mantissa weighs 2^(max(exponent, 1) - 1075).
  add_bits(mantissa, std::max(exponent, 1) - 1075 - kLowest, (bits >> 63) != 0);
}

void ExactSum::add_product(double a, double b) {
  const double product = a * b;
  add(product);
  add(std::fma(a, b, -product));
}

void ExactSum::add(const ExactSum& other) {
  Digits more = other.digits_;
  carry(more);
  carry(digits_);
  for (size_t i = 0; i < kDigits; ++i) digits_[i] += more[i];
  pending_ = 1;
}

/// Leaves all digits but the last in [0, 2^32); the last has the sign.
void ExactSum::carry(Digits& digits) {
  for (size_t i = 0; i + 1 < kDigits; ++i) {
    const int64_t over = digits[i] >> 32;
    digits[i] -= over * kBase;
    digits[i + 1] += over;
  }
}

bool ExactSum::magnitude(Digits& digits) const {
  digits = digits_;
  carry(digits);
  const bool is_negative = digits.back() < 0;
  if (is_negative) {
    for (int64_t& d : digits) d = -d;
    carry(digits);
  }
  return is_negative;
}

bool ExactSum::is_zero() const {
  Digits digits;
  magnitude(digits);
  for (const int64_t d : digits)
    if (d != 0) return false;
  return true;
}

bool ExactSum::operator==(const ExactSum& other) const {
  Digits mine, theirs;
  return magnitude(mine) == other.magnitude(theirs) && mine == theirs;
}

double ExactSum::value() const {
  Digits digits;
  const bool is_negative = magnitude(digits);
  int top = kDigits - 1;
  while (top >= 0 && digits[static_cast<size_t>(top)] == 0) --top;
  if (top < 0) return 0;
  // The leading 64 bits that a double takes part of, and whether anything follows them.
  unsigned __int128 leading = 0;
  for (int i = 0; i < 3; ++i) {
    const int at = top - i;
    leading = (leading << 32) | static_cast<uint32_t>(at >= 0 ? digits[static_cast<size_t>(at)] : 0);
  }
  bool follows = false;
  for (int at = top - 3; at >= 0; --at) follows = follows || digits[static_cast<size_t>(at)] != 0;
  const int weight = kLowest + 32 * (top - 2);  // of the last bit of `leading`
  int width = 96;
  while (((leading >> (width - 1)) & 1) == 0) --width;
  // A double has 53 bits, or fewer where its last bit would weigh less than 2^-1074.
  const int dropped = std::max(width - 53, -1074 - weight);
  if (dropped <= 0) {
    const double exact = std::ldexp(static_cast<double>(static_cast<uint64_t>(leading)), weight);
    return is_negative ? -exact : exact;
  }
  auto kept = static_cast<uint64_t>(leading >> dropped);
  const unsigned __int128 rest = leading - (static_cast<unsigned __int128>(kept) << dropped);
  const unsigned __int128 half = static_cast<unsigned __int128>(1) << (dropped - 1);
  if (rest > half || (rest == half && (follows || (kept & 1) != 0))) ++kept;
  const double rounded = std::ldexp(static_cast<double>(kept), weight + dropped);
  return is_negative ? -rounded : rounded;
}

ExactSum::Pair ExactSum::pair() const {
  const double high = value();
  if (!std::isfinite(high)) return {high, 0};
  ExactSum rest = *this;
  rest.add(-high);
  return {high, rest.value()};
}

std::string ExactSum::text() const {
  Digits digits;
  const bool is_negative = magnitude(digits);
  int top = kDigits - 1, low = 0;
  while (top >= 0 && digits[static_cast<size_t>(top)] == 0) --top;
  if (top < 0) return "0";
  while (digits[static_cast<size_t>(low)] == 0) ++low;
  std::string text = fmt::format("{}{}:{:x}", is_negative ? "-" : "", low, digits[static_cast<size_t>(top)]);
  for (int at = top - 1; at >= low; --at)
    text += fmt::format("{:08x}", static_cast<uint32_t>(digits[static_cast<size_t>(at)]));
  return text;
}

ExactSum ExactSum::parse(std::string_view text) {
  ExactSum sum;
  if (text == "0") return sum;
  std::string_view left = text;
  const bool is_negative = left.starts_with('-');
  if (is_negative) left.remove_prefix(1);
  const size_t colon = left.find(':');
  if (colon == std::string_view::npos) refuse(text);
  int at = 0;
  const auto place = std::from_chars(left.data(), left.data() + colon, at);
  std::string_view hex = left.substr(colon + 1);
  if (place.ec != std::errc() || place.ptr != left.data() + colon || at < 0 || at >= kDigits || hex.empty() ||
      (hex.size() + 7) / 8 > static_cast<size_t>(kDigits - at))
    refuse(text);
  for (; !hex.empty(); ++at) {
    const std::string_view digit = hex.substr(hex.size() - std::min<size_t>(hex.size(), 8));
    uint32_t value = 0;
    const auto read = std::from_chars(digit.data(), digit.data() + digit.size(), value, 16);
    if (read.ec != std::errc() || read.ptr != digit.data() + digit.size()) refuse(text);
    sum.digits_[static_cast<size_t>(at)] = is_negative ? -int64_t{value} : int64_t{value};
    hex.remove_suffix(digit.size());
  }
  if (sum.text() != text) refuse(text);
  return sum;
}

}  // namespace assay
