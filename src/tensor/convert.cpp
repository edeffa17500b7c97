#include "tensor/convert.h"

#include <array>
#include <complex>
#include <cstring>

#include "base/article.h"
#include "base/parallel.h"
#include "tensor/convert_string.h"
#include "tensor/half.h"
#include "tensor/narrow_float.h"
#include "tensor/packed_bits.h"

namespace assay {
namespace {

/// Elements handled at a time: a multiple of 8, so that packed types split at bytes.
constexpr int64_t kBlock = 2048;
constexpr int64_t kGrain = 32;  // blocks; fewer are not worth waking another thread

struct Options {
  bool saturate = true;
  E8M0Rounding e8m0_rounding = E8M0Rounding::kUp;
};

/// Scratch memory for a block of any native type.
struct Scratch {
  alignas(64) std::array<std::byte, kBlock * 8> bytes;
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
};

/// A block of elements of a type that C++ computes with (bool: uint8, 0 or 1).
struct Native {
  DType dtype;
  const void* data;
};

template <typename Decode, typename Code>
void decode_block(const Code* in, float* out, int64_t n, Decode decode) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = decode(in[i]);
}

/// Lookup table of codes with up to 8 bits.
template <typename Decode>
constexpr std::array<float, 256> make_table(Decode decode) {
  std::array<float, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) table[i] = decode(i);
  return table;
}

template <typename Format>
void decode_bytes(const uint8_t* in, float* out, int64_t n) {
  static constexpr auto kTable = make_table([](uint32_t c) { return decode<Format>(c); });
  for (int64_t i = 0; i < n; ++i) out[i] = kTable[in[i]];
}

template <int kBits>
void unpack_signed(const uint8_t* in, int64_t first, int64_t n, int8_t* out) {
  unpack_bits(in, first, kBits, {reinterpret_cast<uint8_t*>(out), static_cast<size_t>(n)});
  constexpr int kSign = 1 << (kBits - 1);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int8_t>((out[i] ^ kSign) - kSign);
}

template <typename Format>
void unpack_float(const uint8_t* in, int64_t first, int64_t n, float* out) {
  std::array<uint8_t, kBlock> codes;
  unpack_bits(in, first, Format::kBits, {codes.data(), static_cast<size_t>(n)});
  decode_bytes<Format>(codes.data(), out, n);
}

/// Elements [first, first + n) in the narrowest native type that holds them exactly: in place, or through
/// scratch.
Native load_block(DType dtype, const void* data, int64_t first, int64_t n, Scratch& scratch) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  const auto* half = static_cast<const uint16_t*>(data) + first;
  float* f = scratch.as<float>();
  switch (dtype) {
    case DType::kFloat16:
      decode_block(half, f, n, [](uint16_t c) { return half_to_float(c); });
      break;
    case DType::kBFloat16:
      decode_block(half, f, n, [](uint16_t c) { return bfloat16_to_float(c); });
      break;
    case DType::kFloat8E4M3FN:
      decode_bytes<Float8E4M3FNFormat>(bytes + first, f, n);
      break;
    case DType::kFloat8E4M3FNUZ:
      decode_bytes<Float8E4M3FNUZFormat>(bytes + first, f, n);
      break;
    case DType::kFloat8E5M2:
      decode_bytes<Float8E5M2Format>(bytes + first, f, n);
      break;
    case DType::kFloat8E5M2FNUZ:
      decode_bytes<Float8E5M2FNUZFormat>(bytes + first, f, n);
      break;
    case DType::kFloat8E8M0:
      decode_block(bytes + first, f, n, [](uint8_t c) { return decode_e8m0(c); });
      break;
    case DType::kFloat4E2M1:
      unpack_float<Float4E2M1Format>(bytes, first, n, f);
      break;
    case DType::kFloat6E2M3:
      unpack_float<Float6E2M3Format>(bytes, first, n, f);
      break;
    case DType::kFloat6E3M2:
      unpack_float<Float6E3M2Format>(bytes, first, n, f);
      break;
    case DType::kInt4:
      unpack_signed<4>(bytes, first, n, scratch.as<int8_t>());
      return {DType::kInt8, f};
    case DType::kInt2:
      unpack_signed<2>(bytes, first, n, scratch.as<int8_t>());
      return {DType::kInt8, f};
    case DType::kUInt4:
    case DType::kUInt2:
      unpack_bits(bytes, first, bit_width(dtype), {scratch.as<uint8_t>(), static_cast<size_t>(n)});
      return {DType::kUInt8, f};
    case DType::kBool: {
      auto* out = scratch.as<uint8_t>();
      for (int64_t i = 0; i < n; ++i) out[i] = bytes[first + i] != 0;
      return {DType::kUInt8, out};
    }
    default:
      return {dtype, bytes + static_cast<size_t>(first) * static_cast<size_t>(bit_width(dtype) / 8)};
  }
  return {DType::kFloat32, f};
}

template <typename F>
void visit_native(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32:
      f.template operator()<float>();
      break;
    case DType::kFloat64:
      f.template operator()<double>();
      break;
    case DType::kInt8:
      f.template operator()<int8_t>();
      break;
    case DType::kUInt8:
      f.template operator()<uint8_t>();
      break;
    case DType::kInt16:
      f.template operator()<int16_t>();
      break;
    case DType::kUInt16:
      f.template operator()<uint16_t>();
      break;
    case DType::kInt32:
      f.template operator()<int32_t>();
      break;
    case DType::kUInt32:
      f.template operator()<uint32_t>();
      break;
    case DType::kInt64:
      f.template operator()<int64_t>();
      break;
    case DType::kUInt64:
      f.template operator()<uint64_t>();
      break;
    default:
      fail(ErrorCode::kInternal, "no conversion from {}", dtype_name(dtype));
  }
}

/// Truncates; values out of range become INT64_MIN, as with x86-64's instruction.
template <typename From>
int64_t truncate(From x) {
  constexpr From kLimit = 9223372036854775808.0;
  return x >= -kLimit && x < kLimit ? static_cast<int64_t>(x) : INT64_MIN;
}

template <typename To, typename From>
To convert_element(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>) {
    constexpr From kHalf = 9223372036854775808.0;
    return x >= kHalf ? static_cast<uint64_t>(truncate(x - kHalf)) ^ (uint64_t{1} << 63)
                      : static_cast<uint64_t>(truncate(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(truncate(x));
  } else {
    return static_cast<To>(x);
  }
}

template <typename To, typename From>
void convert_block(const From* in, To* out, int64_t n) {
  if constexpr (std::is_same_v<To, From>) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(To));
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = convert_element<To>(in[i]);
  }
}

/// A double that the narrow formats round as they would the integer itself: for an integer that double cannot
/// represent, the low bits, far below the formats' precision, become a sticky bit.
template <typename Int>
double sticky_double(Int x) {
  if constexpr (sizeof(Int) == 8) {
    constexpr Int kLow = 0xfff;
    if (x > (Int{1} << 53) || (std::is_signed_v<Int> && x < -(Int{1} << 53)))
      x = static_cast<Int>((x & ~kLow) | ((x & kLow) != 0 ? 0x800 : 0));
  }
  return static_cast<double>(x);
}

template <typename Code, typename From, typename Encode>
void encode_block(const From* in, Code* out, int64_t n, Encode encode_one) {
  if constexpr (std::is_floating_point_v<From>) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Code>(encode_one(in[i]));
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Code>(encode_one(sticky_double(in[i])));
  }
}

template <typename Format, typename From, typename Code>
void encode_as(const From* in, Code* out, int64_t n, bool saturate) {
  encode_block(in, out, n, [saturate](auto x) { return encode<Format>(x, saturate); });
}

/// To a format of fewer than 8 bits, which always saturates.
template <typename Format, typename From>
void encode_packed(const From* in, uint8_t* out, int64_t n) {
  std::array<uint8_t, kBlock> codes;
  encode_as<Format>(in, codes.data(), n, true);
  pack_bits({codes.data(), static_cast<size_t>(n)}, Format::kBits, out);
}

/// Writes a block of native elements as elements [first, first + n) of the target; `first` is a multiple of
/// kBlock.
template <typename From>
void store_block(const From* in, DType to, void* data, int64_t first, int64_t n, const Options& options) {
  auto* bytes = static_cast<uint8_t*>(data);
  auto* half = static_cast<uint16_t*>(data) + first;
  const bool saturate = options.saturate;
  uint8_t* packed = bytes + first * bit_width(to) / 8;
  switch (to) {
    case DType::kFloat16:
      encode_as<Float16Format>(in, half, n, false);
      break;
    case DType::kBFloat16:
      encode_as<BFloat16Format>(in, half, n, false);
      break;
    case DType::kFloat8E4M3FN:
      encode_as<Float8E4M3FNFormat>(in, bytes + first, n, saturate);
      break;
    case DType::kFloat8E4M3FNUZ:
      encode_as<Float8E4M3FNUZFormat>(in, bytes + first, n, saturate);
      break;
    case DType::kFloat8E5M2:
      encode_as<Float8E5M2Format>(in, bytes + first, n, saturate);
      break;
    case DType::kFloat8E5M2FNUZ:
      encode_as<Float8E5M2FNUZFormat>(in, bytes + first, n, saturate);
      break;
    case DType::kFloat8E8M0:
      encode_block(in, bytes + first, n,
                   [&](double x) { return encode_e8m0(x, saturate, options.e8m0_rounding); });
      break;
    case DType::kFloat4E2M1:
      encode_packed<Float4E2M1Format>(in, packed, n);
      break;
    case DType::kFloat6E2M3:
      encode_packed<Float6E2M3Format>(in, packed, n);
      break;
    case DType::kFloat6E3M2:
      encode_packed<Float6E3M2Format>(in, packed, n);
      break;
    case DType::kInt4:
    case DType::kUInt4:
    case DType::kInt2:
    case DType::kUInt2: {
      std::array<uint8_t, kBlock> codes;
      convert_block(in, codes.data(), n);
      pack_bits({codes.data(), static_cast<size_t>(n)}, bit_width(to), packed);
      break;
    }
    case DType::kBool:
      convert_block(in, static_cast<bool*>(data) + first, n);
      break;
    default:
      visit_native(to, [&]<typename To>() { convert_block(in, static_cast<To*>(data) + first, n); });
  }
}

/// A view into a file may have any address.
Tensor aligned(const Tensor& t) {
  const auto bytes = static_cast<uintptr_t>(std::max(1, bit_width(t.dtype()) / 8));
  Tensor copy = t;
  if (reinterpret_cast<uintptr_t>(t.data()) % std::min<uintptr_t>(bytes, 8) != 0) copy.mutable_data();
  return copy;
}

Tensor convert_real(const Tensor& source, DType to, const Options& options) {
  const Tensor t = aligned(source);
  Tensor out = Tensor::allocate(to, t.shape());
  void* target = out.mutable_data();
  const int64_t n = t.numel();
  parallel_for((n + kBlock - 1) / kBlock, kGrain, [&](int64_t first_block, int64_t last_block) {
    Scratch scratch;
    for (int64_t b = first_block; b < last_block; ++b) {
      const int64_t first = b * kBlock, count = std::min(kBlock, n - first);
      const Native block = load_block(t.dtype(), t.data(), first, count, scratch);
      visit_native(block.dtype, [&]<typename From>() {
        store_block(static_cast<const From*>(block.data), to, target, first, count, options);
      });
    }
  });
  return out;
}

template <typename To, typename From>
Tensor to_complex(const Tensor& t, DType to) {
  Tensor out = Tensor::allocate(to, t.shape());
  auto* y = static_cast<std::complex<To>*>(out.mutable_data());
  const auto* x = static_cast<const From*>(t.data());
  parallel_for(t.numel(), kBlock * kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) y[i] = std::complex<To>(x[i]);
  });
  return out;
}

Tensor convert_complex(const Tensor& t, DType to) {
  const DType from = t.dtype();
  if (is_complex(from) && !is_complex(to))
    fail(ErrorCode::kUnsupported, "{} tensor cannot be converted to {}: the imaginary parts would be lost",
         with_article(dtype_name(from)), dtype_name(to));
  if (from == DType::kString)
    fail(ErrorCode::kUnsupported, "strings cannot be converted to {}", dtype_name(to));
  if (from == DType::kComplex64) return to_complex<double, std::complex<float>>(aligned(t), to);
  if (from == DType::kComplex128) return to_complex<float, std::complex<double>>(aligned(t), to);
  if (to == DType::kComplex64) return to_complex<float, float>(convert(t, DType::kFloat32), to);
  return to_complex<double, double>(convert(t, DType::kFloat64), to);
}

/// In one of the types that numbers_to_strings() takes.
Tensor printable(const Tensor& t) {
  if (is_integer(t.dtype()) && t.dtype() != DType::kUInt64) return convert(t, DType::kInt64);
  return is_packed(t.dtype()) ? convert(t, DType::kFloat32) : aligned(t);
}

Tensor convert_with(const Tensor& t, DType to, const Options& options) {
  const DType from = t.dtype();
  if (from == to) return t;
  require(from != DType::kUndefined && to != DType::kUndefined, ErrorCode::kInternal,
          "a conversion needs two element types, not {} and {}", dtype_name(from), dtype_name(to));
  require(!t.is_container() && !is_container(to), ErrorCode::kInvalidModel,
          "a value of type {} cannot be converted to {}", dtype_name(from), dtype_name(to));
  if (is_complex(from) || is_complex(to)) return convert_complex(t, to);
  if (to == DType::kString) return internal::numbers_to_strings(printable(t));
  if (from == DType::kString) return convert(internal::strings_to_numbers(t, to), to, options.saturate);
  return convert_real(t, to, options);
}

}  // namespace

Tensor convert(const Tensor& t, DType to, bool saturate) {
  return convert_with(t, to, {.saturate = saturate});
}

Tensor convert_to_e8m0(const Tensor& t, bool saturate, E8M0Rounding rounding) {
  return convert_with(t, DType::kFloat8E8M0, {.saturate = saturate, .e8m0_rounding = rounding});
}

Tensor unpack(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kInt4:
    case DType::kInt2:
      return convert(t, DType::kInt8);
    case DType::kUInt4:
    case DType::kUInt2:
      return convert(t, DType::kUInt8);
    case DType::kFloat4E2M1:
    case DType::kFloat6E2M3:
    case DType::kFloat6E3M2:
      return convert(t, DType::kFloat32);
    default:
      return t;
  }
}

Tensor pack(const Tensor& t, DType to) {
  const DType wide = is_float(to) ? DType::kFloat32 : is_signed_integer(to) ? DType::kInt8 : DType::kUInt8;
  require(is_packed(to) && t.dtype() == wide, ErrorCode::kInternal, "cannot pack {} tensor as {}",
          with_article(dtype_name(t.dtype())), dtype_name(to));
  return convert(t, to);
}

std::vector<int64_t> Tensor::to_int64() const {
  std::vector<int64_t> out(static_cast<size_t>(numel_));
  const auto widen = [&]<typename T>(const T* p) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(p[i]);
  };
  switch (dtype_) {
    case DType::kInt8:
      widen(data<int8_t>());
      break;
    case DType::kUInt8:
      widen(data<uint8_t>());
      break;
    case DType::kInt16:
      widen(data<int16_t>());
      break;
    case DType::kUInt16:
      widen(data<uint16_t>());
      break;
    case DType::kInt32:
      widen(data<int32_t>());
      break;
    case DType::kUInt32:
      widen(data<uint32_t>());
      break;
    case DType::kInt64:
      widen(data<int64_t>());
      break;
    case DType::kUInt64:
      widen(data<uint64_t>());
      break;
    case DType::kBool:
      widen(data<bool>());
      break;
    default:
      require(is_integer(dtype_) && is_packed(dtype_), ErrorCode::kInvalidArgument,
              "expected integers, found {} tensor", with_article(dtype_name(dtype_)));
      return convert(*this, DType::kInt64).to_int64();
  }
  return out;
}

}  // namespace assay
