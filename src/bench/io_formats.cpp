#include "bench/io_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "assay/error.h"
#include "bench/shapes.h"

namespace assay::bench {
namespace {

constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"fp32", DType::kFloat32},     {"fp16", DType::kFloat16},   {"bf16", DType::kBFloat16},
    {"int8", DType::kInt8},        {"int32", DType::kInt32},    {"int64", DType::kInt64},
    {"uint8", DType::kUInt8},      {"bool", DType::kBool},      {"int4", DType::kInt4},
    {"fp8", DType::kFloat8E4M3FN}, {"fp4", DType::kFloat4E2M1}, {"e8m0", DType::kFloat8E8M0},
};
constexpr std::string_view kRowMajor = "chw";
constexpr std::string_view kLayouts[] = {kRowMajor, "chw2",       "chw4",    "chw16", "chw32",
                                         "hwc",     "hwc8",       "hwc16",   "dhwc",  "dhwc8",
                                         "cdhw32",  "dla_linear", "dla_hwc4"};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string type_names() {
  std::string names;
  for (const auto& [name, type] : kTypes) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return names;
}

IoFormat parse_one(std::string_view option, const std::string& text) {
  const size_t colon = text.find(':');
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const auto& t) { return t.first == text.substr(0, colon); });
  require(colon != std::string::npos && type != std::end(kTypes), ErrorCode::kInvalidArgument,
          "{}: could not parse '{}'. Expected TYPE:LAYOUT, as in fp32:chw; the types are {}", option, text,
          type_names());
  IoFormat format{.text = text, .dtype = type->second, .layouts = split(text.substr(colon + 1), '+')};
  for (const std::string& layout : format.layouts)
    require(std::find(std::begin(kLayouts), std::end(kLayouts), layout) != std::end(kLayouts),
            ErrorCode::kInvalidArgument, "{}: there is no layout '{}' in '{}'. The layouts are {}", option,
            layout, text, fmt::join(kLayouts, ", "));
  return format;
}

}  // namespace

std::vector<IoFormat> parse_io_formats(std::string_view option, const std::vector<std::string>& words) {
  std::vector<IoFormat> formats;
  for (const std::string& word : words)
    for (const std::string& item : split_list(word)) formats.push_back(parse_one(option, item));
  return formats;
}

void check_io_formats(std::string_view option, const std::vector<IoFormat>& formats,
                      const std::vector<TensorInfo>& tensors) {
  if (formats.empty()) return;
  require(formats.size() == 1 || formats.size() == tensors.size(), ErrorCode::kInvalidArgument,
          "{}: {} formats are given for {} tensors. Give one for each, or one for all", option,
          formats.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const IoFormat& f = formats.size() == 1 ? formats.front() : formats[i];
    const bool is_row_major = std::find(f.layouts.begin(), f.layouts.end(), kRowMajor) != f.layouts.end();
    const Type& type = tensors[i].type;
    if (is_row_major && type.is_tensor() && type.dtype == f.dtype) continue;
    fail(ErrorCode::kUnsupported,
         "{}: '{}' is not how the engine has '{}': it takes and gives tensors row-major (chw), in the type "
         "of the "
         "model, which is {}",
         option, f.text, tensors[i].name, type.str());
  }
}

}  // namespace assay::bench
