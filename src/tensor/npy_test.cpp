#include "tensor/npy.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>

#include "tensor/convert.h"

namespace assay::npy_test {
namespace {

using namespace std::string_literals;

std::string stream(const Tensor& t) {
  std::string out;
  write_npy(t, [&](const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); });
  return out;
}

/// A version 1 stream with any header text.
std::string raw(std::string dict, std::string_view data = {}, char version = 1) {
  std::string out = std::string("\x93NUMPY") + version + '\0';
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + dict + std::string(data);
}

std::string error_of(const std::string& bytes) {
  try {
    read_npy(bytes);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

TEST(Npy, HeaderIsNumPysToTheByte) {
  const std::string two = npy_header(Tensor::vector<float>({1, 2}));
  EXPECT_EQ(two, std::string("\x93NUMPY\x01\x00v\x00", 10) +
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" + std::string(60, ' ') +
                     "\n");
  EXPECT_EQ(npy_header(Tensor::scalar(1.0)).substr(10, 57),
            "{'descr': '<f8', 'fortran_order': False, 'shape': (), }  ");
  // Twenty axes need a longer header: room for the first extent to grow, then the next multiple of 64.
  const std::string twenty = npy_header(Tensor::zeros(DType::kInt8, Shape(std::vector<int64_t>(20, 1))));
  EXPECT_EQ(twenty.size(), 192U);
  EXPECT_EQ(twenty.substr(10, 24), "{'descr': '|i1', 'fortra");
}

TEST(Npy, RoundTripsEveryTypeThatNumPyHas) {
  const Tensor source = Tensor::from<double>({2, 3}, std::vector<double>{0, 1, 2, 3, 250, -1});
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    SCOPED_TRACE(dtype_name(dtype));
    const Tensor t = convert(source, dtype);
    EXPECT_EQ(npy_can_hold(dtype),
              !is_packed(dtype) && (!is_float(dtype) || bit_width(dtype) > 8) && dtype != DType::kBFloat16);
    if (!npy_can_hold(dtype)) {
      EXPECT_THROW(stream(t), Error);
      continue;
    }
    const std::string bytes = stream(t);
    EXPECT_EQ(bytes.size() % 64, t.dtype() == DType::kString ? (6 * 5 * 4) % 64 : t.nbytes() % 64);
    EXPECT_TRUE(read_npy(bytes).identical(t));
  }
}

TEST(Npy, ShapesOfAnyRank) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5, 0, 2}, Shape{1, 1, 2, 2}, Shape{7}}) {
    const Tensor t = Tensor::zeros(DType::kInt16, shape);
    EXPECT_TRUE(read_npy(stream(t)).identical(t)) << shape.str();
  }
}

TEST(Npy, FortranOrder) {
  const std::string data{0, 3, 1, 4, 2, 5};
  const Tensor t = read_npy(raw("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", data));
  EXPECT_EQ(t.to_int64(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  const std::string cube{0, 4, 2, 6, 1, 5, 3, 7};
  EXPECT_EQ(read_npy(raw("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2)}", cube)).to_int64(),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor s = read_npy(raw("{'descr': '|S1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf"));
  EXPECT_EQ(s.data<std::string>()[1], "b");
}

TEST(Npy, BigEndian) {
  const std::string two("\0\1\xff\xfe", 4);
  EXPECT_EQ(read_npy(raw("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", two)).to_int64(),
            (std::vector<int64_t>{1, -2}));
  const std::string c("\x3f\x80\0\0\xc0\0\0\0", 8);
  const Tensor t = read_npy(raw("{'descr': '>c8', 'fortran_order': False, 'shape': (), }", c));
  EXPECT_EQ(*static_cast<const std::complex<float>*>(t.data()), std::complex<float>(1, -2));
  const std::string u("\0\0\x65\xe5\0\1\xf6\0", 8);
  EXPECT_EQ(read_npy(raw("{'descr': '>U2', 'fortran_order': False, 'shape': (), }", u)).item<std::string>(),
            "日😀");
}

TEST(Npy, Strings) {
  const Tensor t = Tensor::vector<std::string>({"", "né", "日本😀", "abc"});
  const std::string bytes = stream(t);
  EXPECT_EQ(bytes.substr(10, 15), "{'descr': '<U3'");
  EXPECT_EQ(bytes.size(), 128U + 4 * 3 * 4);
  EXPECT_TRUE(read_npy(bytes).identical(t));
  EXPECT_EQ(stream(Tensor::allocate(DType::kString, {0})).substr(10, 15), "{'descr': '<U1'");
  EXPECT_THROW(stream(Tensor::scalar<std::string>("\xff")), Error);
  EXPECT_EQ(error_of(raw("{'descr': '<U1', 'fortran_order': False, 'shape': (), }", "\xff\xff\xff\xff")),
            "a string of the .npy array holds 0xffffffff, which is not a character");
}

/// Python's strings have surrogates; overlong forms are not characters.
TEST(Npy, StringsThatAreNotUtf8AreRefused) {
  const auto written = [](std::string text) {
    std::string bytes;
    write_npy(Tensor::vector<std::string>({std::move(text)}),
              [&](const void* data, size_t n) { bytes.append(static_cast<const char*>(data), n); });
    return read_npy(bytes).data<std::string>()[0];
  };
  EXPECT_EQ(written("\xED\xB2\x80 \xE2\x82\xAC"), "\xED\xB2\x80 \xE2\x82\xAC");
  for (const char* text :
       {"\xE0\x80\x80", "\xF0\x80\x80\x80", "\xC0\x80", "\xF4\x90\x80\x80", "\x80", "\xE2\x82"})
    EXPECT_THROW(written(text), Error) << text;
}

TEST(Npy, ViewsWhereItCan) {
  const auto bytes = std::make_shared<std::string>(stream(Tensor::vector<uint8_t>({1, 2, 3})));
  EXPECT_EQ(read_npy(*bytes, bytes).data(), bytes->data() + 128);
  EXPECT_NE(read_npy(*bytes).data(), bytes->data() + 128);
  // Any byte may stand for true in a file.
  const Tensor b =
      read_npy(raw("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\1\7", 3)));
  EXPECT_EQ(b.to_int64(), (std::vector<int64_t>{0, 1, 1}));
}

TEST(Npy, AcceptsOtherWritersHeaders) {
  EXPECT_EQ(read_npy(raw("{\"shape\":(2,),'fortran_order':False,'descr':'<i2'}", "\1\0\2\0"s)).to_int64(),
            (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(read_npy(raw("{'descr': '<i2', 'fortran_order': False, 'shape': (1L,), }", "\1\0"s, 2)).numel(),
            1);
  EXPECT_EQ(read_npy(raw("{'descr': '?', 'fortran_order': False, 'shape': (1,), }\n", "\1"s, 3)).dtype(),
            DType::kBool);
}

TEST(Npy, RefusesWhatIsMalformed) {
  const std::string good = stream(Tensor::vector<float>({1, 2}));
  EXPECT_EQ(error_of(""), "the data is not an .npy array: it does not begin with NumPy's mark");
  EXPECT_EQ(error_of("PK\3\4 and more bytes"),
            "the data is not an .npy array: it does not begin with NumPy's mark");
  for (size_t n = 10; n < 128; ++n) EXPECT_NE(error_of(good.substr(0, n)), "") << n;
  EXPECT_EQ(error_of(good.substr(0, 133)),
            "the .npy array is cut off: its header promises 8 bytes of shape (2,), 5 follow");
  const auto dict = [](std::string_view descr, std::string_view shape) {
    return raw(fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}", descr, shape),
               "12345678");
  };
  EXPECT_EQ(error_of(dict("'<f4'", "(-2,)")), "the .npy header is malformed: the extent -2 is negative");
  EXPECT_EQ(error_of(dict("'<f4'", "(9223372036854775808,)")),
            "the .npy header is malformed: an extent does not fit 64 bits");
  EXPECT_EQ(error_of(dict("'<f4'", "(4294967296, 4294967296)")),
            "the shape (4294967296, 4294967296) has more elements than 64 bits can count");
  EXPECT_EQ(error_of(dict("'<f8'", "(4611686018427387904,)")),
            "the .npy header is malformed: an array of shape (4611686018427387904,) does not fit in memory");
  EXPECT_EQ(error_of(dict("'<f4'", "(x,)")), "the .npy header is malformed: an extent is not an integer");
  EXPECT_EQ(error_of(dict("'<f4'", "2")), "the .npy header is malformed: expected '(' before '2, }'");
  EXPECT_EQ(error_of(dict("'|U0'", "(99999999999,)")),
            "the .npy header is malformed: 99999999999 strings of no length");
  for (const char* wide : {"'<U99999999999999'", "'<U536870912'", "'|S2147483648'"})
    EXPECT_EQ(error_of(dict(wide, "(0,)")),
              "the .npy header is malformed: its strings are longer than NumPy's can be");
  EXPECT_EQ(error_of(raw("{'descr': '<f4', 'shape': (2,), }")),
            "the .npy header is malformed: descr, fortran_order or shape is missing");
  EXPECT_EQ(error_of(raw("{'descr': '<f4'")), "the .npy header is malformed: expected ',' before ''");
  EXPECT_EQ(error_of(raw("{'evil': '<f4'}")), "the .npy header is malformed: unknown key 'evil'");
  EXPECT_EQ(error_of(raw("{'descr")), "the .npy header is malformed: a string does not end");
  std::string long_header = raw("{}", "", 2);
  long_header[11] = 0x40;
  EXPECT_EQ(error_of(long_header), "the .npy header claims 1073741826 bytes, more than 1048576 allowed");
  EXPECT_EQ(error_of(raw("{}", "", 9)), "version 9.0 of the .npy format is unknown");
}

TEST(Npy, WhatNoElementClaimsTakesNoMemory) {
  // Its strings would take 2 GB each.
  for (const char* order : {"True", "False"}) {
    const Tensor t = read_npy(
        raw(fmt::format("{{'descr': '<U536870911', 'fortran_order': {}, 'shape': (0, 2), }}", order), ""));
    EXPECT_EQ(t.shape(), (Shape{0, 2}));
  }
}

// There are none, but work goes by the other extents, too (docs/reference/limits.md).
TEST(Npy, ExtentsBesideAZeroThatNoMemoryHoldsAreRefused) {
  EXPECT_NE(
      error_of(raw("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 4294967296, 4294967296), }", ""))
          .find("a float32 tensor of shape (0, 4294967296, 4294967296) takes more than"),
      std::string::npos);
}

TEST(Npy, RefusesTypesWithoutCounterpart) {
  const auto of = [](std::string_view descr) {
    return error_of(
        raw(fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (1,), }}", descr), "12345678"));
  };
  EXPECT_EQ(of("'|O'"), "an array of Python objects would have to be unpickled, which could run any code");
  EXPECT_EQ(of("'<V2'"), "an array of NumPy type '<V2' has no counterpart here");
  EXPECT_EQ(of("'<f16'"), "an array of NumPy type '<f16' has no counterpart here");
  EXPECT_EQ(of("'<M8[ns]'"), "an array of NumPy type '<M8[ns]' has no counterpart here");
  EXPECT_EQ(of("''"), "an array of NumPy type '' has no counterpart here");
  EXPECT_EQ(of("[('a', '<f4')]"), "a structured NumPy array has no counterpart here");
}

}  // namespace
}  // namespace assay::npy_test
