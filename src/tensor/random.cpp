#include "tensor/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr size_t kShift = 397;
constexpr uint32_t kUpper = 0x80000000u, kLower = 0x7fffffffu, kTwist = 0x9908b0dfu;

uint32_t twist(uint32_t current, uint32_t following) {
  const uint32_t y = (current & kUpper) | (following & kLower);
  return (y >> 1) ^ (y & 1 ? kTwist : 0);
}

uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

/// 53 bits of two draws as a number in [0, 1).
double unit_double(uint32_t a, uint32_t b) {
  return (static_cast<double>(static_cast<int32_t>(a >> 5)) * 67108864.0 +
          static_cast<double>(static_cast<int32_t>(b >> 6))) *
         (1.0 / 9007199254740992.0);
}

/// All ones up to the highest one bit of x.
uint64_t mask_for(uint64_t x) { return x == 0 ? 0 : ~uint64_t{0} >> __builtin_clzll(x); }

/// Draws of `Bits` bits each, taken from 32 at a time, low bits first.
template <int Bits>
class BufferedBits {
 public:
  explicit BufferedBits(RandomState& random) : random_(random) {}
  uint32_t next() {
    if (left_ == 0) {
      buffer_ = random_.next();
      left_ = 32 / Bits - 1;
    } else {
      buffer_ >>= Bits;
      --left_;
    }
    return buffer_ & ((uint32_t{1} << Bits) - 1);
  }

 private:
  RandomState& random_;
  uint32_t buffer_ = 0;
  int left_ = 0;
};

/// Masked rejection: draws of as many bits as `range` has, until one is not beyond it. Adding to `low` wraps,
/// so that every range of a type fits its unsigned twin.
template <typename T, typename Draw>
void fill_bounded(std::span<T> out, uint64_t low, uint64_t range, Draw draw) {
  if (range == 0) {
    std::fill(out.begin(), out.end(), static_cast<T>(low));
    return;
  }
  const uint64_t mask = mask_for(range);
  for (T& v : out) {
    uint64_t x = draw() & mask;
    while (x > range) x = draw() & mask;
    v = static_cast<T>(low + x);
  }
}

template <typename T>
void fill_integers(RandomState& random, std::span<T> out, uint64_t low, uint64_t range) {
  if constexpr (sizeof(T) == 1) {
    fill_bounded(out, low, range, [b = BufferedBits<8>(random)]() mutable -> uint64_t { return b.next(); });
  } else if constexpr (sizeof(T) == 2) {
    fill_bounded(out, low, range, [b = BufferedBits<16>(random)]() mutable -> uint64_t { return b.next(); });
  } else if (range <= 0xffffffffu) {
    fill_bounded(out, low, range, [&]() -> uint64_t { return random.next(); });
  } else {
    fill_bounded(out, low, range, [&]() -> uint64_t {
      const uint64_t high = random.next();
      return high << 32 | random.next();
    });
  }
}

template <typename T>
Tensor draw_integers(RandomState& random, const Shape& shape, int64_t low, int64_t high) {
  using Limits = std::numeric_limits<T>;
  const bool fits = std::is_same_v<T, uint64_t> ? low >= 0
                                                : low >= static_cast<int64_t>(Limits::min()) &&
                                                      high <= static_cast<int64_t>(Limits::max());
  require(fits, ErrorCode::kInvalidArgument, "the range [{}, {}] of random integers does not fit {}", low,
          high, dtype_name(dtype_of<T>()));
  Tensor t = Tensor::allocate(dtype_of<T>(), shape);
  fill_integers(random, t.mutable_span<T>(), static_cast<uint64_t>(low),
                static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
  return t;
}

Tensor draw_bools(RandomState& random, const Shape& shape, int64_t low, int64_t high) {
  require(low >= 0 && high <= 1, ErrorCode::kInvalidArgument,
          "the range [{}, {}] of random integers does not fit bool", low, high);
  Tensor t = Tensor::allocate(DType::kBool, shape);
  fill_bounded(t.mutable_span<bool>(), static_cast<uint64_t>(low), static_cast<uint64_t>(high - low),
               [b = BufferedBits<1>(random)]() mutable -> uint64_t { return b.next(); });
  return t;
}

}  // namespace

RandomState::RandomState(uint32_t seed) {
  for (uint32_t i = 0; i < kWords; ++i) {
    state_[i] = seed;
    seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
  }
}

void RandomState::refill() {
  uint32_t* s = state_.data();
  // Each loop reads only elements that it has not written, or that are farther back than any vector is long.
#pragma omp simd
  for (size_t i = 0; i < kWords - kShift; ++i) s[i] = s[i + kShift] ^ twist(s[i], s[i + 1]);
#pragma omp simd safelen(64)
  for (size_t i = kWords - kShift; i < kWords - 1; ++i) s[i] = s[i + kShift - kWords] ^ twist(s[i], s[i + 1]);
  s[kWords - 1] = s[kShift - 1] ^ twist(s[kWords - 1], s[0]);
#pragma omp simd
  for (size_t i = 0; i < kWords; ++i) drawn_[i] = temper(s[i]);
  position_ = 0;
}

uint32_t RandomState::next() {
  if (position_ == kWords) refill();
  return drawn_[position_++];
}

double RandomState::next_double() {
  const uint32_t a = next();
  return unit_double(a, next());
}

void RandomState::fill_doubles(std::span<double> out) {
  while (!out.empty()) {
    const size_t n = std::min(out.size(), (kWords - position_) / 2);
    if (n == 0) {  // none left, or an odd one
      out[0] = next_double();
      out = out.subspan(1);
      continue;
    }
    const uint32_t* in = drawn_.data() + position_;
    double* to = out.data();
#pragma omp simd
    for (size_t i = 0; i < n; ++i) to[i] = unit_double(in[2 * i], in[2 * i + 1]);
    position_ += 2 * n;
    out = out.subspan(n);
  }
}

double RandomState::next_normal() {
  if (waiting_normal_) {
    const double v = *waiting_normal_;
    waiting_normal_.reset();
    return v;
  }
  double x1, x2, r2;
  do {
    x1 = 2.0 * next_double() - 1.0;
    x2 = 2.0 * next_double() - 1.0;
    r2 = x1 * x1 + x2 * x2;
  } while (r2 >= 1.0 || r2 == 0.0);
  const double f = std::sqrt(-2.0 * std::log(r2) / r2);
  waiting_normal_ = f * x1;
  return f * x2;
}

Tensor RandomState::doubles(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  fill_doubles(t.mutable_span<double>());
  return t;
}

Tensor RandomState::uniform(double low, double high, const Shape& shape) {
  const double range = high - low;
  require(std::isfinite(range), ErrorCode::kInvalidArgument,
          "the range [{}, {}) of random numbers is not finite", low, high);
  Tensor t = doubles(shape);
  for (double& v : t.mutable_span<double>()) v = low + range * v;
  return t;
}

Tensor RandomState::standard_normal(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  for (double& v : t.mutable_span<double>()) v = next_normal();
  return t;
}

Tensor RandomState::normal(double mean, double deviation, const Shape& shape) {
  require(!(deviation < 0) && !std::signbit(deviation), ErrorCode::kInvalidArgument,
          "the standard deviation {} is negative", deviation);
  Tensor t = standard_normal(shape);
  for (double& v : t.mutable_span<double>()) v = mean + deviation * v;
  return t;
}

Tensor RandomState::integers(DType dtype, const Shape& shape, int64_t low, int64_t high) {
  require(low <= high, ErrorCode::kInvalidArgument, "the range [{}, {}] of random integers is empty", low,
          high);
  switch (dtype) {
    case DType::kBool:
      return draw_bools(*this, shape, low, high);
    case DType::kInt8:
      return draw_integers<int8_t>(*this, shape, low, high);
    case DType::kUInt8:
      return draw_integers<uint8_t>(*this, shape, low, high);
    case DType::kInt16:
      return draw_integers<int16_t>(*this, shape, low, high);
    case DType::kUInt16:
      return draw_integers<uint16_t>(*this, shape, low, high);
    case DType::kInt32:
      return draw_integers<int32_t>(*this, shape, low, high);
    case DType::kUInt32:
      return draw_integers<uint32_t>(*this, shape, low, high);
    case DType::kInt64:
      return draw_integers<int64_t>(*this, shape, low, high);
    case DType::kUInt64:
      return draw_integers<uint64_t>(*this, shape, low, high);
    default:
      fail(ErrorCode::kInvalidArgument, "random integers of type {} cannot be drawn", dtype_name(dtype));
  }
}

Tensor RandomState::integers_u64(const Shape& shape, uint64_t low, uint64_t high) {
  require(low <= high, ErrorCode::kInvalidArgument, "the range [{}, {}] of random integers is empty", low,
          high);
  Tensor t = Tensor::allocate(DType::kUInt64, shape);
  fill_integers(*this, t.mutable_span<uint64_t>(), low, high - low);
  return t;
}

}  // namespace assay
