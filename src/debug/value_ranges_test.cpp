#include "debug/value_ranges.h"

#include <cmath>

#include "debug/debug_test_util.h"
#include "tensor/convert.h"

namespace assay::debug::value_ranges_test {
namespace {

std::shared_ptr<Model> two_tensors() {
  return model_from("g (float[4] x, float[4] w) => (float[4] y) {\n [n] y = Mul (x, w)\n}");
}

const TensorRange& of(const RangeStudy& study, const std::string& tensor) {
  for (const TensorRange* r : study.ranges())
    if (r->tensor == tensor) return *r;
  throw std::runtime_error("no " + tensor);
}

/// The numbers at which float16 overflows, becomes subnormal and becomes 0, and those next to them.
TEST(ValueRanges, CountsAtTheEdgesOfFloat16) {
  RangeStudy study(two_tensors(), {DType::kFloat16});
  study.add("x", Tensor::vector<float>({65520, std::nextafter(65520.0f, 0.0f), 0x1p-24f, 0x1p-25f, 0, 1,
                                        std::nextafter(0x1p-25f, 1.0f), 0x1p-14f, INFINITY, NAN}));
  const TensorRange& x = of(study, "x");
  EXPECT_EQ(x.elements, 10);
  EXPECT_EQ(x.zeros, 1);
  EXPECT_EQ(x.nan, 1);
  EXPECT_EQ(x.infinite, 1);
  EXPECT_EQ(x.fits[0].overflow, 2);
  EXPECT_EQ(x.fits[0].flushed, 1);
  EXPECT_EQ(x.fits[0].subnormal, 2);
  EXPECT_EQ(x.largest, 65520);
  EXPECT_EQ(x.smallest, 0x1p-25);
}

/// Every number of a wide range is counted as its conversion says.
TEST(ValueRanges, AgreesWithConversions) {
  std::vector<float> numbers;
  for (int e = -140; e < 128; ++e)
    for (const float m : {1.0f, 1.25f, 1.996f, 1.9999999f}) numbers.push_back(std::ldexp(m, e));
  const Tensor t = Tensor::vector<float>(numbers);
  const std::vector<DType> formats = {DType::kFloat16, DType::kBFloat16, DType::kFloat8E5M2};
  RangeStudy study(two_tensors(), formats);
  study.add("x", t);
  for (size_t f = 0; f < formats.size(); ++f) {
    const Tensor back = convert(convert(t, formats[f], /*saturate=*/false), DType::kFloat32);
    int64_t overflow = 0, flushed = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      overflow += std::isinf(back.data<float>()[i]) ? 1 : 0;
      flushed += numbers[i] != 0 && back.data<float>()[i] == 0 ? 1 : 0;
    }
    EXPECT_EQ(of(study, "x").fits[f].overflow, overflow) << dtype_name(formats[f]);
    EXPECT_EQ(of(study, "x").fits[f].flushed, flushed) << dtype_name(formats[f]);
  }
}

TEST(ValueRanges, Int8IsLostToOutliers) {
  RangeStudy study(two_tensors(), {DType::kInt8});
  std::vector<float> even(1000), spiky(1000);
  for (size_t i = 0; i < 1000; ++i) even[i] = spiky[i] = static_cast<float>(i + 1) / 1000;
  spiky[999] = 1000;
  study.add("x", Tensor::vector<float>(even));
  study.add("y", Tensor::vector<float>(spiky));
  EXPECT_NEAR(of(study, "x").lost_in_int8(), 0.004, 0.004);
  EXPECT_GT(of(study, "y").lost_in_int8(), 0.99);
  EXPECT_GT(of(study, "x").int8_noise_ratio(), 40);
  EXPECT_LT(of(study, "y").int8_noise_ratio(), of(study, "x").int8_noise_ratio());
  EXPECT_EQ(study.ranked(DType::kInt8).front()->tensor, "y");
}

TEST(ValueRanges, TheWorstComesFirst) {
  RangeStudy study(two_tensors(), {DType::kFloat16, DType::kBFloat16});
  study.add("x", Tensor::vector<float>({1, 2}));
  study.add("y", Tensor::vector<float>({1e6, 2}));
  study.add("w", Tensor::vector<float>({1e-9f, 2}));
  study.add("nobody's", Tensor::vector<float>({1}));
  study.add("x", Tensor::vector<int64_t>({1}));
  std::vector<std::string> order;
  for (const TensorRange* r : study.ranked(DType::kFloat16)) order.push_back(r->tensor);
  EXPECT_EQ(order, (std::vector<std::string>{"y", "w", "x"}));
  EXPECT_NEAR(of(study, "x").headroom(DType::kFloat16), std::log2(65504.0 / 2), 1e-9);
  EXPECT_LT(of(study, "w").footroom(DType::kFloat16), 0);
  EXPECT_EQ(error_of([&] { study.ranked(DType::kInt8); }).empty(), false);
}

TEST(ValueRanges, RefusesOtherTypes) {
  EXPECT_NE(error_of([] { RangeStudy(two_tensors(), {DType::kFloat64}); }).find("float64"),
            std::string::npos);
  EXPECT_NE(error_of([] { RangeStudy(two_tensors(), {DType::kInt32}); }).find("int32"), std::string::npos);
}

TEST(ValueRanges, TablesHaveEveryTensor) {
  RangeStudy study(two_tensors(), {DType::kFloat16, DType::kInt8});
  study.add("x", Tensor::vector<float>({1, 2}));
  study.add("y", Tensor::vector<float>({3}));
  study.end_iteration();
  const std::string csv = ranges_csv(study, DType::kFloat16),
                    json = ranges_json(study, "m", "b", DType::kFloat16);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  for (const char* part : {"float16_overflow", "int8_noise_ratio_db"})
    EXPECT_NE(csv.find(part), std::string::npos) << csv;
  for (const char* part : {"\"ranked_by\": \"float16\"", "\"iterations\": 1", "\"headroom_bits\""})
    EXPECT_NE(json.find(part), std::string::npos) << json;
}

/// Studies of parts, through files and in any order, give the bytes of one study.
TEST(ValueRanges, PartsAddUp) {
  const std::vector<DType> formats = {DType::kFloat16, DType::kInt8};
  const auto study_of = [&](const std::vector<int>& sets) {
    RangeStudy study(two_tensors(), formats);
    for (const int set : sets) {
      const auto scale = std::ldexp(1.1F, 5 * set);
      study.add("x", Tensor::vector<float>({scale, -3 * scale, 0, scale / 7}));
      study.add("y", Tensor::vector<double>({1e300, 0.1 * set, 1e-300 * set}));
      study.end_iteration();
    }
    return study;
  };
  const auto stored = [](const RangeStudy& study) {
    std::string text;
    JsonWriter json([&](std::string_view piece) { text += piece; });
    json.begin_object();
    study.write(json);
    json.end_object();
    return RangeStudy::read(parse_json(text, "part"), "part");
  };
  const RangeStudy whole = study_of({0, 1, 2, 3, 4});
  const std::vector<RangeStudy> parts = {study_of({3}), study_of({}), study_of({0, 4}), study_of({2, 1})};
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2, 3}, {2, 0, 3, 1}}) {
    RangeStudy all = stored(parts[order[0]]);
    for (size_t i = 1; i < order.size(); ++i) all.add(stored(parts[order[i]]));
    EXPECT_EQ(ranges_json(all, "m", "ref", DType::kInt8), ranges_json(whole, "m", "ref", DType::kInt8));
    EXPECT_EQ(ranges_csv(all, DType::kFloat16), ranges_csv(whole, DType::kFloat16));
  }
  RangeStudy other(two_tensors(), {DType::kFloat16});
  EXPECT_THROW(other.add(whole), Error);
}

}  // namespace
}  // namespace assay::debug::value_ranges_test
