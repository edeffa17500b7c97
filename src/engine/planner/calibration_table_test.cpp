#include <gtest/gtest.h>

#include "assay/int8_calibrator.h"

namespace assay::calibration_table_test {
namespace {

TEST(CalibrationTable, ReadsWhatTensorRtWrites) {
  const CalibrationTable t = CalibrationTable::parse(
      "TRT-7103-EntropyCalibration2\ndata: 3c010204\n(Unnamed Layer* 1) [Convolution]_output: "
      "3d8b6a2f\nnothing: 0\n",
      "cache");
  EXPECT_EQ(t.version, 7103);
  EXPECT_EQ(t.algorithm, CalibrationAlgorithm::kEntropy2);
  ASSERT_EQ(t.scales.size(), 3U);
  EXPECT_FLOAT_EQ(t.scales.at("data"), 1 / 127.0F);
  EXPECT_EQ(t.scales.at("nothing"), 0);
  EXPECT_GT(t.scales.at("(Unnamed Layer* 1) [Convolution]_output"), 0.06F);
}

TEST(CalibrationTable, WritesWhatItReads) {
  const std::string text = "TRT-8601-MinMaxCalibration\na: b: 3c010a14\nx: 00000000\n";
  EXPECT_EQ(CalibrationTable::parse(text, "cache").str(), text);
  EXPECT_EQ(
      CalibrationTable::parse("TRT-8601-MinMaxCalibration\r\n\r\nx: 0\r\na: b: 3C010A14", "cache").str(),
      text);
  for (const CalibrationAlgorithm a : {CalibrationAlgorithm::kLegacy, CalibrationAlgorithm::kEntropy,
                                       CalibrationAlgorithm::kEntropy2, CalibrationAlgorithm::kMinMax})
    EXPECT_EQ(CalibrationTable::parse(CalibrationTable{.algorithm = a}.str(), "cache").algorithm, a);
}

TEST(CalibrationTable, NamesThatALineCannotHoldAreLeftOut) {
  CalibrationTable t;
  t.scales = {{"", 1.0F}, {"a\nb", 1.0F}, {"c\r", 1.0F}, {"d", 1.0F}};
  EXPECT_EQ(t.str(), "TRT-8601-EntropyCalibration2\nd: 3f800000\n");
}

std::string refusal(std::string_view text) {
  try {
    CalibrationTable::parse(text, "cache");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "none";
}

TEST(CalibrationTable, WhatIsDamagedIsRefusedByItsLine) {
  const std::string head = "TRT-8601-EntropyCalibration2\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "its first line is ''"},
      {"x: 3c010a14\n", "its first line is 'x: 3c010a14'"},
      {"TRT-8601\n", "its first line is 'TRT-8601'"},
      {"TRT--EntropyCalibration2\n", "its first line"},
      {"TRT-1e3-EntropyCalibration2\n", "its first line"},
      {"TRT-99999999999999999999-EntropyCalibration2\n", "its first line"},
      {"TRT-8601-Guesswork\n", "names the algorithm 'Guesswork'"},
      {head + "x 3c010a14\n", "line 2 is 'x 3c010a14'"},
      {head + ": 3c010a14\n", "line 2 is ': 3c010a14'"},
      {head + "a: 3c010a14\nx: \n", "line 3 has the scale ''"},
      {head + "x: 0x3c01\n", "line 2 has the scale '0x3c01'"},
      {head + "x: 3c010a14 \n", "line 2 has the scale '3c010a14 '"},
      {head + "x: 13c010a14\n", "line 2 has the scale '13c010a14'"},
      {head + "x: 7f800000\n", "the scale inf for 'x'"},
      {head + "x: 7fc00000\n", "the scale nan for 'x'"},
      {head + "x: bf800000\n", "the scale -1 for 'x'"},
      {head + "x: 80000000\n", "the scale -0 for 'x'"},
      {head + "x: 3c010a14\nx: 3c010a15\n", "line 3 gives 'x' another scale"},
      {head + "\x1b[2Jx: 7f800000\n", "\\x1b[2Jx"},
  };
  for (const auto& [text, words] : cases)
    EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text);
  EXPECT_EQ(refusal(head + "x: 3c010a14\nx: 3c010a14\n"), "none");
  EXPECT_LT(refusal(std::string(100'000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace assay::calibration_table_test
