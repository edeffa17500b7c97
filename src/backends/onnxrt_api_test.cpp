#include "backends/onnxrt_api.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(OnnxrtApi, ElementTypesAreOnnxsButForTheLastThree) {
  for (int t = 1; t <= static_cast<int>(DType::kFloat4E2M1); ++t)
    EXPECT_EQ(ort::element_type_of(static_cast<DType>(t)), t);
  EXPECT_EQ(ort::element_type_of(DType::kUInt2), 24);
  EXPECT_EQ(ort::element_type_of(DType::kInt2), 25);
  EXPECT_EQ(ort::element_type_of(DType::kFloat8E8M0), 26);
}

TEST(OnnxrtApi, EveryElementTypeComesBack) {
  for (int t = 1; t < kDTypeCount; ++t)
    EXPECT_EQ(ort::dtype_of_element_type(ort::element_type_of(static_cast<DType>(t))), static_cast<DType>(t));
  for (const int unknown : {-1, 0, kDTypeCount, 1000})
    EXPECT_EQ(ort::dtype_of_element_type(unknown), DType::kUndefined);
}

}  // namespace
}  // namespace assay
