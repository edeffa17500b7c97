#include <bit>
#include <charconv>
#include <cmath>

#include "assay/int8_calibrator.h"
#include "base/visible_text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "TRT-";
/// In the order of CalibrationAlgorithm.
constexpr std::string_view kAlgorithms[] = {"LegacyCalibration", "EntropyCalibration", "EntropyCalibration2",
                                            "MinMaxCalibration", "MeanSquaredErrorCalibration"};
/// Hexadecimal digits of a float32.
constexpr size_t kMaxDigits = 8;
/// Of a line, in a message.
constexpr size_t kShown = 60;

/// The whole text as a number; nothing if it is none.
template <typename Int>
std::optional<Int> number(std::string_view text, int base) {
  Int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes the first line off, without what ends it.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string shown(std::string_view line) {
  return visible_text(line.substr(0, kShown), Lines::kOne) + (line.size() > kShown ? "..." : "");
}

void read_header(std::string_view line, const std::string& name, CalibrationTable& table) {
  const size_t dash = line.starts_with(kPrefix) ? line.find('-', kPrefix.size()) : std::string_view::npos;
  std::optional<int64_t> version;
  if (dash != std::string_view::npos)
    version = number<int64_t>(line.substr(kPrefix.size(), dash - kPrefix.size()), 10);
  require(version && *version >= 0, ErrorCode::kInvalidArgument,
          "{}: not a calibration cache: its first line is '{}', not TRT-VERSION-ALGORITHM", name,
          shown(line));
  const std::string_view algorithm = line.substr(dash + 1);
  for (size_t i = 0; i < std::size(kAlgorithms); ++i)
    if (algorithm == kAlgorithms[i]) {
      table.version = *version;
      table.algorithm = static_cast<CalibrationAlgorithm>(i);
      return;
    }
  fail(ErrorCode::kInvalidArgument,
       "{}: its first line names the algorithm '{}'; there are EntropyCalibration2, EntropyCalibration, "
       "MinMaxCalibration, LegacyCalibration and MeanSquaredErrorCalibration",
       name, shown(algorithm));
}

}  // namespace

std::string_view algorithm_name(CalibrationAlgorithm algorithm) {
  return kAlgorithms[static_cast<size_t>(algorithm)];
}

CalibrationTable CalibrationTable::parse(std::string_view text, const std::string& name) {
  CalibrationTable table;
  read_header(take_line(text), name, table);
  for (int64_t at = 2; !text.empty(); ++at) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const size_t colon = line.rfind(": ");
    require(colon != std::string_view::npos && colon > 0, ErrorCode::kInvalidArgument,
            "{}: line {} is '{}', not a tensor's name, a colon and a scale", name, at, shown(line));
    const std::string_view digits = line.substr(colon + 2);
    const auto bits = digits.size() <= kMaxDigits ? number<uint32_t>(digits, 16) : std::nullopt;
    require(bits.has_value(), ErrorCode::kInvalidArgument,
            "{}: line {} has the scale '{}', not up to {} hexadecimal digits", name, at, shown(digits),
            kMaxDigits);
    const float scale = std::bit_cast<float>(*bits);
    require(std::isfinite(scale) && !std::signbit(scale), ErrorCode::kInvalidArgument,
            "{}: line {} has the scale {} for '{}': a scale is finite and not negative", name, at, scale,
            shown(line.substr(0, colon)));
    const auto [it, is_new] = table.scales.emplace(line.substr(0, colon), scale);
    require(is_new || it->second == scale, ErrorCode::kInvalidArgument,
            "{}: line {} gives '{}' another scale than an earlier line", name, at, shown(it->first));
  }
  return table;
}

std::string CalibrationTable::str() const {
  std::string text = fmt::format("{}{}-{}\n", kPrefix, version, algorithm_name(algorithm));
  for (const auto& [name, scale] : scales)
    if (!name.empty() && name.find_first_of("\r\n") == std::string::npos)
      text += fmt::format("{}: {:08x}\n", name, std::bit_cast<uint32_t>(scale));
  return text;
}

}  // namespace assay
