#include "backends/onnxrt_api.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace assay::onnxrt_api_test {
namespace {

/// Where Debian's libonnxruntime-dev puts it, unless ASSAY_ONNXRUNTIME_HEADER names another.
std::string header_path() {
  const char* named = std::getenv("ASSAY_ONNXRUNTIME_HEADER");
  return named != nullptr ? named : "/usr/include/onnxruntime/onnxruntime_c_api.h";
}

struct Entry {
  int place = 0;
  int since = 0;  ///< 1.N
};

/// The functions of struct OrtApi in their order.
std::map<std::string, Entry> functions_of(std::istream& header) {
  static const std::regex kFallible(R"(^\s*ORT_API2_STATUS\(\s*(\w+))"),
      kRelease(R"(^\s*ORT_CLASS_RELEASE\(\s*(\w+))"), kPointer(R"(\(ORT_API_CALL\s*\*\s*(\w+)\)\()"),
      kSince(R"(\\since Version 1\.(\d+))");
  std::map<std::string, Entry> found;
  bool is_inside = false;
  int place = 0, since = 0;
  for (std::string line; std::getline(header, line);) {
    if (line.starts_with("struct OrtApi {")) is_inside = true;
    if (!is_inside) continue;
    if (line.starts_with("};")) break;
    std::smatch match;
    if (std::regex_search(line, match, kSince)) since = std::stoi(match[1]);
    line.resize(std::min(line.find("//"), line.size()));
    if (std::regex_search(line, match, kFallible) || std::regex_search(line, match, kPointer))
      found[match[1]] = {place++, since};
    else if (std::regex_search(line, match, kRelease))
      found["Release" + match[1].str()] = {place++, since};
  }
  return found;
}

TEST(OnnxrtApi, PlacesAreThoseOfTheHeader) {
  std::ifstream header(header_path());
  if (!header)
    GTEST_SKIP() << "there is no " << header_path()
                 << ": install libonnxruntime-dev (Debian 13) or name the header in ASSAY_ONNXRUNTIME_HEADER";
  const std::map<std::string, Entry> functions = functions_of(header);
  ASSERT_GT(functions.size(), 200U) << "the header's form is not the expected one";
  const auto check = [&](const std::string& name, int place) {
    const auto it = functions.find(name);
    ASSERT_NE(it, functions.end()) << name;
    EXPECT_EQ(it->second.place, place) << name;
    EXPECT_LE(it->second.since, static_cast<int>(ort::kApiVersion)) << name;
  };
#define ASSAY_ORT_SLOT(name, number) check(#name, number);
#include "backends/onnxrt_slots.def"
#undef ASSAY_ORT_SLOT
}

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
}  // namespace assay::onnxrt_api_test
