#include "tensor/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>

#include "tensor/half.h"
#include "tensor/narrow_float.h"
#include "tensor/packed_bits.h"

namespace assay::convert_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The stored 16-bit words or bytes.
std::vector<int> codes(const Tensor& t) {
  std::vector<int> out;
  const size_t words = bit_width(t.dtype()) == 16 ? t.nbytes() / 2 : t.nbytes();
  for (size_t i = 0; i < words; ++i)
    out.push_back(bit_width(t.dtype()) == 16 ? static_cast<const uint16_t*>(t.data())[i]
                                             : static_cast<const uint8_t*>(t.data())[i]);
  return out;
}

/// Every pair of neighbouring magnitudes of a format: values between them round correctly.
template <typename Format>
void check_rounding() {
  const auto encode_double = [](double x) { return encode<Format>(x, false); };
  for (uint32_t low = 0; low < Format::kMax; ++low) {
    const double a = decode<Format>(low), b = decode<Format>(low + 1), middle = (a + b) / 2;
    ASSERT_LT(a, b);
    ASSERT_EQ(encode_double(a), low);
    ASSERT_EQ(encode_double(middle), low + low % 2) << low;
    ASSERT_EQ(encode_double(std::nextafter(middle, 0.0)), low) << low;
    ASSERT_EQ(encode_double(std::nextafter(middle, kInf)), low + 1) << low;
    const auto m = static_cast<float>(middle);
    ASSERT_EQ(encode<Format>(m, false), low + low % 2) << low;
    ASSERT_EQ(encode<Format>(std::nextafter(m, 0.0F), false), low) << low;
    ASSERT_EQ(encode<Format>(-std::nextafter(m, static_cast<float>(kInf)), false),
              (low + 1) | 1u << (Format::kBits - 1))
        << low;
  }
  EXPECT_EQ(encode<Format>(1e300, true), Format::kMax);
  EXPECT_EQ(encode<Format>(1e300, false), Format::kOverflow);
}

TEST(NarrowFloat, RoundsToNearestEvenEverywhere) {
  check_rounding<Float16Format>();
  check_rounding<BFloat16Format>();
  check_rounding<Float8E4M3FNFormat>();
  check_rounding<Float8E4M3FNUZFormat>();
  check_rounding<Float8E5M2Format>();
  check_rounding<Float8E5M2FNUZFormat>();
  check_rounding<Float4E2M1Format>();
  check_rounding<Float6E2M3Format>();
  check_rounding<Float6E3M2Format>();
}

TEST(NarrowFloat, NansStayNans) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(half_to_float(double_to_half(nan))));
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(decode<Float8E4M3FNFormat>(encode<Float8E4M3FNFormat>(nan, true))));
  EXPECT_TRUE(std::isnan(decode<Float8E5M2FNUZFormat>(encode<Float8E5M2FNUZFormat>(-nan, true))));
  EXPECT_TRUE(std::isnan(decode_e8m0(encode_e8m0(nan, true, E8M0Rounding::kUp))));
  EXPECT_EQ(decode<Float4E2M1Format>(encode<Float4E2M1Format>(nan, true)), 0);
  EXPECT_EQ(decode<Float6E2M3Format>(encode<Float6E2M3Format>(nan, true)), 0);
}

// Codes from NumPy and ml_dtypes.
TEST(Convert, NarrowFloatsMatchMlDtypes) {
  const Tensor x = Tensor::vector<float>({0.0F,
                                          -0.0F,
                                          1.0F,
                                          -1.5F,
                                          0.1F,
                                          1 / 3.0F,
                                          448,
                                          464,
                                          464.1F,
                                          57344,
                                          61440,
                                          65519.99F,
                                          65520,
                                          1e-7F,
                                          0.0009765625F,
                                          0.00146484375F,
                                          -7.62939453125e-06F,
                                          6.1e-5F,
                                          1e9F,
                                          -1e9F,
                                          static_cast<float>(kInf),
                                          static_cast<float>(-kInf)});
  EXPECT_EQ(
      codes(convert(x, DType::kFloat16)),
      (std::vector{0x0,    0x8000, 0x3c00, 0xbe00, 0x2e66, 0x3555, 0x5f00, 0x5f40, 0x5f40, 0x7b00, 0x7b80,
                   0x7bff, 0x7c00, 0x2,    0x1400, 0x1600, 0x8080, 0x3ff,  0x7c00, 0xfc00, 0x7c00, 0xfc00}));
  EXPECT_EQ(
      codes(convert(x, DType::kBFloat16)),
      (std::vector{0x0,    0x8000, 0x3f80, 0xbfc0, 0x3dcd, 0x3eab, 0x43e0, 0x43e8, 0x43e8, 0x4760, 0x4770,
                   0x4780, 0x4780, 0x33d7, 0x3a80, 0x3ac0, 0xb700, 0x3880, 0x4e6e, 0xce6e, 0x7f80, 0xff80}));
  EXPECT_EQ(codes(convert(x, DType::kFloat8E4M3FN, false)),
            (std::vector{0x0,  0x80, 0x38, 0xbc, 0x1d, 0x2b, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f,
                         0x7f, 0x7f, 0x0,  0x0,  0x1,  0x80, 0x0,  0x7f, 0xff, 0x7f, 0xff}));
  EXPECT_EQ(codes(convert(x, DType::kFloat8E4M3FNUZ, false)),
            (std::vector{0x0,  0x0,  0x40, 0xc4, 0x25, 0x33, 0x80, 0x80, 0x80, 0x80, 0x80,
                         0x80, 0x80, 0x0,  0x1,  0x2,  0x0,  0x0,  0x80, 0x80, 0x80, 0x80}));
  EXPECT_EQ(codes(convert(x, DType::kFloat8E5M2, false)),
            (std::vector{0x0,  0x80, 0x3c, 0xbe, 0x2e, 0x35, 0x5f, 0x5f, 0x5f, 0x7b, 0x7c,
                         0x7c, 0x7c, 0x0,  0x14, 0x16, 0x80, 0x4,  0x7c, 0xfc, 0x7c, 0xfc}));
  EXPECT_EQ(codes(convert(x, DType::kFloat8E5M2FNUZ, false)),
            (std::vector{0x0,  0x0,  0x40, 0xc2, 0x32, 0x39, 0x63, 0x63, 0x63, 0x7f, 0x80,
                         0x80, 0x80, 0x0,  0x18, 0x1a, 0x81, 0x8,  0x80, 0x80, 0x80, 0x80}));
  EXPECT_EQ(codes(convert(x, DType::kFloat4E2M1)),
            (std::vector{0x80, 0xb2, 0x10, 0x77, 0x77, 0x77, 0x07, 0x00, 0x08, 0xf7, 0xf7}));
}

TEST(Convert, SixBitFloatsMatchMlDtypes) {
  const Tensor x = Tensor::vector<double>({-0.0, -1.5, 0.3, 1e9, kInf, -kInf, std::nan(""), 0.0624, 0.0625,
                                           0.0626, 7.4, 0.03125, 0.1875, -27, 25, 27, 3.25, 3.75});
  const auto check = [&](DType type, const std::vector<uint8_t>& expected) {
    for (const bool saturate : {true, false}) {
      const Tensor packed = convert(x, type, saturate);
      EXPECT_EQ(packed.nbytes(), 14U);
      std::vector<uint8_t> found(expected.size());
      unpack_bits(static_cast<const uint8_t*>(packed.data()), 0, 6, found);
      EXPECT_EQ(found, expected) << dtype_name(type);
      EXPECT_TRUE(pack(unpack(packed), type).identical(packed));
    }
  };
  check(DType::kFloat6E2M3, {0x20, 0x2c, 0x2, 0x1f, 0x1f, 0x3f, 0x20, 0x0, 0x0, 0x1, 0x1f, 0x0, 0x2, 0x3f,
                             0x1f, 0x1f, 0x15, 0x17});
  check(DType::kFloat6E3M2, {0x20, 0x2e, 0x5, 0x1f, 0x1f, 0x3f, 0x20, 0x1, 0x1, 0x1, 0x17, 0x0, 0x3, 0x3f,
                             0x1e, 0x1f, 0x12, 0x14});
  EXPECT_EQ(convert(convert(x, DType::kFloat6E3M2), DType::kFloat64).data<double>()[13], -28);
}

TEST(Convert, SaturatesOnlyTheNarrowTypes) {
  const Tensor x = Tensor::vector<double>({1e9, -kInf, 449});
  EXPECT_EQ(codes(convert(x, DType::kFloat8E4M3FN)), (std::vector{0x7e, 0xfe, 0x7e}));
  EXPECT_EQ(codes(convert(x, DType::kFloat8E5M2)), (std::vector{0x7b, 0xfb, 0x5f}));
  EXPECT_EQ(codes(convert(x, DType::kFloat8E5M2FNUZ)), (std::vector{0x7f, 0xff, 0x63}));
  EXPECT_EQ(codes(convert(x, DType::kFloat16)), (std::vector{0x7c00, 0xfc00, 0x5f04}));
}

TEST(Convert, NothingIsRoundedTwice) {
  // Each is just above the midpoint of two neighbours; a shorter type would hit the midpoint.
  const double to_half = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(double_to_half(to_half), 0x3c01);
  EXPECT_EQ(codes(convert(Tensor::scalar(to_half), DType::kFloat16)), std::vector{0x3c01});
  const int64_t to_bfloat = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  EXPECT_EQ(codes(convert(Tensor::vector<int64_t>({to_bfloat, to_bfloat - 1, -to_bfloat}), DType::kBFloat16)),
            (std::vector{0x5d81, 0x5d80, 0xdd81}));
  EXPECT_EQ(codes(convert(Tensor::scalar(static_cast<uint64_t>(to_bfloat)), DType::kBFloat16)),
            std::vector{0x5d81});
}

TEST(Convert, E8M0FollowsRoundModeAndSaturate) {
  const Tensor x = Tensor::vector<double>({0, 1, 1.1, 1.5, 1.75, 0.124, 3e38, kInf, std::nan(""), -1, 1e-45});
  EXPECT_EQ(codes(convert(x, DType::kFloat8E8M0)),
            (std::vector{0, 127, 128, 128, 128, 124, 254, 254, 255, 255, 0}));
  EXPECT_EQ(codes(convert_to_e8m0(x, false, E8M0Rounding::kNearest)),
            (std::vector{255, 127, 127, 128, 128, 124, 255, 255, 255, 255, 255}));
  EXPECT_EQ(codes(convert_to_e8m0(x, true, E8M0Rounding::kDown)),
            (std::vector{0, 127, 127, 127, 127, 123, 254, 254, 255, 255, 0}));
  const Tensor back =
      convert(Tensor::vector<uint8_t>({0, 1, 127, 254, 255}).bitcast(DType::kFloat8E8M0), DType::kFloat64);
  EXPECT_EQ(back.data<double>()[0], std::ldexp(1.0, -127));
  EXPECT_EQ(back.data<double>()[1], std::ldexp(1.0, -126));
  EXPECT_EQ(back.data<double>()[3], std::ldexp(1.0, 127));
  EXPECT_TRUE(std::isnan(back.data<double>()[4]));
}

TEST(Convert, DecodesEveryCodeOfTheSmallTypes) {
  const Tensor four = Tensor::vector<uint8_t>({0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe});
  const auto as = [&](DType t) { return Tensor::view(t, {16}, four.data(), std::make_shared<Tensor>(four)); };
  const Tensor floats = unpack(as(DType::kFloat4E2M1));
  EXPECT_EQ(std::vector<float>(floats.span<float>().begin(), floats.span<float>().end()),
            (std::vector<float>{0, .5, 1, 1.5, 2, 3, 4, 6, -0.0F, -.5, -1, -1.5, -2, -3, -4, -6}));
  EXPECT_EQ(unpack(as(DType::kInt4)).to_int64(),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1}));
  EXPECT_EQ(unpack(as(DType::kUInt4)).to_int64().back(), 15);
  const Tensor two = Tensor::view(DType::kInt2, {5}, four.data(), std::make_shared<Tensor>(four));
  EXPECT_EQ(unpack(two).to_int64(), (std::vector<int64_t>{0, 0, 1, 0, -2}));
}

TEST(Convert, PackedTypesKeepLowBitsAndPadWithZeros) {
  const Tensor x = Tensor::vector<int64_t>({7, -8, 9, -1, 17});
  const Tensor four = convert(x, DType::kInt4);
  EXPECT_EQ(four.nbytes(), 3U);
  EXPECT_EQ(std::memcmp(four.data(), "\x87\xf9\x01", 3), 0);
  EXPECT_EQ(convert(four, DType::kInt32).to_int64(), (std::vector<int64_t>{7, -8, -7, -1, 1}));
  EXPECT_EQ(convert(convert(x, DType::kUInt2), DType::kUInt8).to_int64(),
            (std::vector<int64_t>{3, 0, 1, 3, 1}));
  EXPECT_TRUE(pack(unpack(four), DType::kInt4).identical(four));
  EXPECT_THROW(pack(x, DType::kInt4), Error);
  // Blocks must split at whole bytes.
  std::vector<int8_t> many(100001);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int8_t>(i % 16) - 8;
  const Tensor wide = Tensor::vector<int8_t>(many);
  EXPECT_TRUE(unpack(convert(wide, DType::kInt4)).identical(wide));
}

TEST(Convert, FloatsToIntegersTruncateThroughInt64) {
  const Tensor x = Tensor::vector<double>({2.9, -2.9, 300, 3e9, std::nan(""), 1e30, 9007199254740993.0});
  EXPECT_EQ(convert(x, DType::kInt64).to_int64(),
            (std::vector<int64_t>{2, -2, 300, 3000000000, INT64_MIN, INT64_MIN, 9007199254740992}));
  EXPECT_EQ(convert(x, DType::kInt8).to_int64(), (std::vector<int64_t>{2, -2, 44, 0, 0, 0, 0}));
  const Tensor large = convert(Tensor::vector<double>({9.3e18, 18446744073709549568.0, -1}), DType::kUInt64);
  EXPECT_EQ(large.data<uint64_t>()[0], 9300000000000000000U);
  EXPECT_EQ(large.data<uint64_t>()[1], 18446744073709549568U);
  EXPECT_EQ(large.data<uint64_t>()[2], UINT64_MAX);
}

TEST(Convert, IntegersAndBools) {
  EXPECT_EQ(convert(Tensor::vector<int16_t>({200, -1, 256}), DType::kInt8).to_int64(),
            (std::vector<int64_t>{-56, -1, 0}));
  EXPECT_EQ(convert(Tensor::vector<float>({0.0F, -0.0F, 0.25F, std::nanf("")}), DType::kBool).to_int64(),
            (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(convert(Tensor::vector<bool>({true, false}), DType::kFloat64).data<double>()[0], 1);
  // A file may hold any byte for true.
  const uint8_t bytes[] = {0, 1, 2, 255};
  const Tensor odd = Tensor::view(DType::kBool, {4}, bytes, nullptr);
  EXPECT_EQ(convert(odd, DType::kInt32).to_int64(), (std::vector<int64_t>{0, 1, 1, 1}));
}

TEST(Convert, NumbersToStringsAsNumPyPrintsThem) {
  const auto text = [](const Tensor& t) { return convert(t, DType::kString).data<std::string>()[0]; };
  EXPECT_EQ(text(Tensor::scalar(0.1F)), "0.1");
  EXPECT_EQ(text(Tensor::scalar(314.15926F)), "314.15927");
  EXPECT_EQ(text(Tensor::scalar(1e-4F)), "1e-04");
  EXPECT_EQ(text(Tensor::scalar(100000.0F)), "100000.0");
  EXPECT_EQ(text(Tensor::scalar(1e16)), "1e+16");
  EXPECT_EQ(text(Tensor::scalar(1e15)), "1000000000000000.0");
  EXPECT_EQ(text(Tensor::scalar(-kInf)), "-inf");
  EXPECT_EQ(text(Tensor::scalar(true)), "True");
  EXPECT_EQ(text(Tensor::scalar(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(text(convert(Tensor::scalar(0.015625), DType::kFloat16)), "0.01563");
  EXPECT_EQ(text(convert(Tensor::scalar(0.1), DType::kBFloat16)), "0.1");
  EXPECT_EQ(text(convert(Tensor::scalar(-1.5), DType::kFloat4E2M1)), "-1.5");
  EXPECT_EQ(text(convert(Tensor::scalar(-3), DType::kInt4)), "-3");
}

TEST(Convert, StringsToNumbers) {
  const Tensor s =
      Tensor::vector<std::string>({" 3.14 ", "1e-5", "+INF", "-inf", "NaN", "1e999", "1e-999", "-0"});
  const Tensor d = convert(s, DType::kFloat64);
  EXPECT_EQ(d.data<double>()[0], 3.14);
  EXPECT_EQ(d.data<double>()[1], 1e-5);
  EXPECT_EQ(d.data<double>()[2], kInf);
  EXPECT_EQ(d.data<double>()[3], -kInf);
  EXPECT_TRUE(std::isnan(d.data<double>()[4]));
  EXPECT_EQ(d.data<double>()[5], kInf);
  EXPECT_EQ(d.data<double>()[6], 0);
  EXPECT_TRUE(std::signbit(d.data<double>()[7]));
  EXPECT_EQ(
      convert(Tensor::vector<std::string>({"9223372036854775807", "100.5", "-7"}), DType::kInt64).to_int64(),
      (std::vector<int64_t>{INT64_MAX, 100, -7}));
  EXPECT_EQ(
      convert(Tensor::vector<std::string>({"18446744073709551615"}), DType::kUInt64).data<uint64_t>()[0],
      UINT64_MAX);
  EXPECT_EQ(convert(Tensor::vector<std::string>({"True", "False", "2"}), DType::kBool).to_int64(),
            (std::vector<int64_t>{1, 0, 1}));
}

TEST(Convert, RefusesTextThatIsNoNumber) {
  for (const char* text : {"", "Hello", "1,5", "0x10", "--1", "+-1", "nan(1)", "1 2"}) {
    EXPECT_THROW(convert(Tensor::scalar<std::string>(text), DType::kFloat32), Error) << text;
    EXPECT_THROW(convert(Tensor::scalar<std::string>(text), DType::kInt64), Error) << text;
  }
  EXPECT_THROW(convert(Tensor::scalar<std::string>("1e30"), DType::kInt64), Error);
  EXPECT_THROW(convert(Tensor::scalar<std::string>("-5"), DType::kUInt64), Error);
  try {
    convert(Tensor::scalar<std::string>("it's"), DType::kFloat32);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the string \"it's\" cannot be converted to float32");
  }
}

TEST(Convert, Complex) {
  const Tensor c = convert(Tensor::vector<float>({1.5F, -2.0F}), DType::kComplex128);
  EXPECT_EQ(static_cast<const std::complex<double>*>(c.data())[1], std::complex<double>(-2, 0));
  const Tensor narrow = convert(c, DType::kComplex64);
  EXPECT_EQ(static_cast<const std::complex<float>*>(narrow.data())[0], std::complex<float>(1.5, 0));
  EXPECT_THROW(convert(c, DType::kFloat64), Error);
  EXPECT_THROW(convert(c, DType::kString), Error);
}

TEST(Convert, SameTypeSharesStorage) {
  const Tensor t = Tensor::vector<float>({1, 2});
  EXPECT_EQ(convert(t, DType::kFloat32).data(), t.data());
  EXPECT_EQ(convert(Tensor::allocate(DType::kInt4, {0, 3}), DType::kFloat32).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::convert_test
