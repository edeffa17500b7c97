#include "inspect/element_preview.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tensor/convert.h"

namespace assay::element_preview_test {
namespace {

std::string preview(const UnalignedTensor& t) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; }, JsonStyle::kScript);
  write_preview(json, t);
  return text;
}

Tensor counted(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) % 8;
  return Tensor::vector(values);
}

TEST(ElementPreview, AllOfSixteenAndTheEndsOfMore) {
  EXPECT_EQ(preview(Tensor::zeros(DType::kFloat32, {0, 3})), R"({"values":[],"total":0,"truncated":false})");
  EXPECT_EQ(preview(Tensor::scalar(2.5F)), R"({"values":[2.5],"total":1,"truncated":false})");
  EXPECT_EQ(preview(counted(16)),
            R"({"values":[0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7],"total":16,"truncated":false})");
  EXPECT_EQ(preview(counted(17)),
            R"({"values":[0,1,2,3,4,5,6,7,1,2,3,4,5,6,7,0],"split":8,"total":17,"truncated":true})");
}

TEST(ElementPreview, PackedTypesWhoseEndBeginsInsideAByte) {
  for (const DType t : {DType::kInt4, DType::kUInt4, DType::kFloat4E2M1})
    for (const int64_t count : {17, 18, 19, 23, 24}) {
      const std::string expected =
          preview(convert(convert(counted(count), t), is_float(t) ? DType::kFloat64 : DType::kInt64));
      EXPECT_EQ(preview(convert(counted(count), t)), expected) << dtype_name(t) << ' ' << count;
    }
  EXPECT_EQ(preview(convert(Tensor::vector<int64_t>({7, -8, 1}), DType::kInt4)),
            R"({"values":[7,-8,1],"total":3,"truncated":false})");
}

TEST(ElementPreview, WhatJsonNumbersCannotBe) {
  EXPECT_EQ(preview(Tensor::vector<float>({NAN, INFINITY, -INFINITY, 0.1F})),
            R"({"values":["NaN","Infinity","-Infinity",0.10000000149011612],"total":4,"truncated":false})");
  EXPECT_EQ(
      preview(Tensor::vector<int64_t>({int64_t{1} << 53, (int64_t{1} << 53) + 1, INT64_MIN})),
      R"({"values":[9007199254740992,"9007199254740993","-9223372036854775808"],"total":3,"truncated":false})");
  EXPECT_EQ(preview(Tensor::vector<uint64_t>({1, UINT64_MAX})),
            R"({"values":[1,"18446744073709551615"],"total":2,"truncated":false})");
  EXPECT_EQ(preview(Tensor::vector(std::vector<bool>{true, false})),
            R"({"values":[true,false],"total":2,"truncated":false})");
  EXPECT_EQ(
      preview(Tensor::vector<std::string>({"a'</", std::string(200, 'x')})),
      R"({"values":["a'\u003c/",")" + std::string(137, 'x') + R"(\u2026"],"total":2,"truncated":false})");
  EXPECT_EQ(preview(convert(Tensor::vector<float>({1.5F}), DType::kComplex64)),
            R"x({"values":["(1.5+0j)"],"total":1,"truncated":false})x");
}

TEST(ElementPreview, ReadsFromAnyAddressAndOnlyTheEnds) {
  const auto bytes = std::make_shared<std::vector<char>>(4 * 40 + 1);
  for (int i = 0; i < 40; ++i) {
    const float x = static_cast<float>(i);
    std::memcpy(bytes->data() + 1 + 4 * i, &x, 4);
  }
  const auto t = UnalignedTensor::view(DType::kFloat32, Shape{40}, bytes->data() + 1, bytes);
  EXPECT_EQ(
      preview(t),
      R"({"values":[0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,32.0,33.0,34.0,35.0,36.0,37.0,38.0,39.0],"split":8,"total":40,"truncated":true})");
}

TEST(ElementPreview, ShortensByCharacters) {
  const auto repeated = [](std::string_view what, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += what;
    return text;
  };
  EXPECT_EQ(shortened(repeated("ü", 140)), repeated("ü", 140));
  EXPECT_EQ(shortened(repeated("ü", 141)), repeated("ü", 137) + "…");
  EXPECT_EQ(shortened(""), "");
  EXPECT_EQ(shortened(std::string(500, '\x80')).size(), 500u)
      << "bytes that begin no character count as none";
}

}  // namespace
}  // namespace assay::element_preview_test
