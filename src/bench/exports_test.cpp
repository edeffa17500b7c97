#include "bench/exports.h"

#include <gtest/gtest.h>

#include <limits>

#include "bench/report.h"
#include "tensor/convert.h"

namespace assay::bench {
namespace {

/// The JSON of one output, without blanks and line ends.
std::string exported(const Tensor& t) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  write_output(json, {{"y", t}});
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::string of(const std::string& dimensions, const std::string& values) {
  return R"([{"name":"y","dimensions":")" + dimensions + R"(","values":[)" + values + "]}]";
}

Tensor numbers(DType dtype, const std::vector<double>& values) {
  return convert(Tensor::vector(values), dtype);
}

TEST(ExportOutput, EveryTypeOfNumbers) {
  for (const DType t : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kInt4})
    EXPECT_EQ(exported(numbers(t, {-8, 0, 7})), of("3", "-8,0,7")) << dtype_name(t);
  for (const DType t : {DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64, DType::kUInt4})
    EXPECT_EQ(exported(numbers(t, {0, 7, 15})), of("3", "0,7,15")) << dtype_name(t);
  EXPECT_EQ(exported(numbers(DType::kInt2, {-2, -1, 1})), of("3", "-2,-1,1"));
  EXPECT_EQ(exported(numbers(DType::kUInt2, {0, 2, 3})), of("3", "0,2,3"));
  EXPECT_EQ(exported(numbers(DType::kBool, {0, 1, 1})), of("3", "0,1,1"));
  for (const DType t : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBFloat16,
                        DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2,
                        DType::kFloat8E5M2FNUZ, DType::kFloat4E2M1, DType::kFloat6E2M3, DType::kFloat6E3M2})
    EXPECT_EQ(exported(numbers(t, {-1.5, 0, 4})), of("3", "-1.5,0.0,4.0")) << dtype_name(t);
  EXPECT_EQ(exported(numbers(DType::kFloat8E8M0, {0.5, 1, 4})), of("3", "0.5,1.0,4.0"));
}

TEST(ExportOutput, ExtremesAreExact) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(exported(Tensor::vector<uint64_t>({kMax, kMax / 2 + 2, 0})),
            of("3", "18446744073709551615,9223372036854775809,0"));
  EXPECT_EQ(exported(Tensor::vector<int64_t>({std::numeric_limits<int64_t>::min(), (int64_t{1} << 53) + 1})),
            of("2", "-9223372036854775808,9007199254740993"));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exported(Tensor::vector<float>({std::numeric_limits<float>::quiet_NaN(), infinity, -infinity})),
            of("3", "NaN,Infinity,-Infinity"));
}

TEST(ExportOutput, StringsAndComplexNumbers) {
  EXPECT_EQ(exported(Tensor::vector<std::string>({"a\"b", ""})), of("2", R"("a\"b","")"));
  const float parts[] = {1, -2, 0.5, 0};
  const Tensor complex = Tensor::view(DType::kComplex64, Shape{2}, parts,
                                      std::shared_ptr<const void>(parts, [](const void*) {}));
  EXPECT_EQ(exported(complex), of("2", "[1.0,-2.0],[0.5,0.0]"));
  EXPECT_EQ(output_lines({{"y", complex}}), (Lines{"y: (2)", "1-2j 0.5+0j"}));
}

TEST(ExportOutput, Containers) {
  const Tensor one = Tensor::vector<int64_t>({1}),
               two = Tensor::from<int64_t>(Shape{2, 1}, std::vector<int64_t>{2, 3});
  EXPECT_EQ(exported(Tensor::sequence({one, two})),
            R"([{"name":"y","type":"sequence","values":[{"dimensions":"1","values":[1]},)"
            R"({"dimensions":"2x1","values":[2,3]}]}])");
  EXPECT_EQ(exported(Tensor::sequence({})), R"([{"name":"y","type":"sequence","values":[]}])");
  EXPECT_EQ(exported(Tensor::optional(one)),
            R"([{"name":"y","type":"optional","values":[{"dimensions":"1","values":[1]}]}])");
  EXPECT_EQ(exported(Tensor::optional(Tensor())), R"([{"name":"y","type":"optional","values":[]}])");
  const Tensor map = Tensor::map(Tensor::vector<std::string>({"a", "b"}), Tensor::vector<float>({1, 2}));
  EXPECT_EQ(exported(map), R"([{"name":"y","type":"map","values":{"keys":["a","b"],"values":[1.0,2.0]}}])");
  EXPECT_EQ(
      exported(Tensor::sequence({map})),
      R"([{"name":"y","type":"sequence","values":[{"type":"map","values":{"keys":["a","b"],"values":[1.0,2.0]}}]}])");
  EXPECT_EQ(output_lines({{"y", Tensor::sequence({one, two})}}),
            (Lines{"y.length: (scalar)", "2", "y[0]: (1)", "1", "y[1]: (2x1)", "2 3"}));
}

}  // namespace
}  // namespace assay::bench
