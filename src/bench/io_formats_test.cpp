#include "bench/io_formats.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::bench {
namespace {

std::string refusal(const std::vector<std::string>& words, const std::vector<TensorInfo>& tensors) {
  try {
    check_io_formats("--inputIOFormats", parse_io_formats("--inputIOFormats", words), tensors);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

const std::vector<TensorInfo> kTwo = {{"x", Type::tensor(DType::kFloat32, Shape{1, 3})},
                                      {"ids", Type::tensor(DType::kInt64, Shape{4})}};

TEST(IoFormats, WhatTheEngineDoesIsAccepted) {
  EXPECT_EQ(refusal({}, kTwo), "");
  EXPECT_EQ(refusal({"fp32:chw,int64:chw"}, kTwo), "");
  EXPECT_EQ(refusal({"fp32:chw", "int64:chw"}, kTwo), "");
  EXPECT_EQ(refusal({"fp32:chw32+chw,int64:chw+hwc"}, kTwo), "");  // any of them may be taken
  EXPECT_EQ(refusal({"fp32:chw"}, {kTwo.front()}), "");
  EXPECT_EQ(refusal({"fp32:chw"}, {kTwo.front(), kTwo.front()}), "");  // one for all
}

TEST(IoFormats, EverythingElseIsRefused) {
  EXPECT_NE(refusal({"fp32:chw"}, kTwo).find("'ids'"), std::string::npos);
  EXPECT_NE(refusal({"fp16:chw,int64:chw"}, kTwo).find("in the type of the model, which is float32"),
            std::string::npos);
  EXPECT_NE(refusal({"fp32:hwc8,int64:chw"}, kTwo).find("row-major (chw)"), std::string::npos);
  EXPECT_NE(refusal({"fp32:chw,int64:chw,fp32:chw"}, kTwo).find("3 formats are given for 2 tensors"),
            std::string::npos);
  for (const char* wrong : {"fp32", "chw", "fp33:chw", ":chw", "fp32:", "fp32:nchw", "fp32:chw+", ""})
    EXPECT_NE(refusal({wrong}, {kTwo.front()}), "") << wrong;
}

}  // namespace
}  // namespace assay::bench
