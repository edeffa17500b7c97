#include "engine/objects/calibration_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "assay/error.h"
#include "base/json_fields.h"
#include "base/parallel.h"

namespace assay {
namespace {

constexpr CalibrationAlgorithm kAlgorithms[] = {
    CalibrationAlgorithm::kLegacy, CalibrationAlgorithm::kEntropy, CalibrationAlgorithm::kEntropy2,
    CalibrationAlgorithm::kMinMax, CalibrationAlgorithm::kMeanSquaredError};

/// Bins that are not empty: `3:17,4:2`.
std::string counts_text(const std::vector<int64_t>& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", i, counts[i]);
  return text;
}

std::vector<int64_t> read_counts(std::string_view text, const JsonFields& fields) {
  constexpr size_t kMost = size_t{1} << 16;
  std::vector<int64_t> counts;
  while (!text.empty()) {
    size_t bin = 0;
    int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, bin);
    const bool is_bin = first.ec == std::errc() && first.ptr != end && *first.ptr == ':' && bin < kMost;
    const auto second = is_bin ? std::from_chars(first.ptr + 1, end, count) : first;
    if (!is_bin || second.ec != std::errc() || count <= 0 || bin < counts.size() ||
        (second.ptr != end && *second.ptr != ','))
      fields.refuse("its counts of magnitudes are not what they must be");
    counts.resize(bin + 1);
    counts[bin] = count;
    text.remove_prefix(std::min(text.size(), static_cast<size_t>(second.ptr - text.data()) + 1));
  }
  return counts;
}

float float_of(const JsonFields& fields, const JsonValue& object, std::string_view key) {
  const double number = fields.number(object, key);
  const auto narrow = static_cast<float>(number);
  if (static_cast<double>(narrow) != number) fields.refuse(fmt::format("'{}' is no float32", key));
  return narrow;
}

}  // namespace

std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + (names.size() > kMost ? ", ..." : "");
}

void DataCheck::add(const std::string& input, const Tensor& t) {
  require(t.numel() > 0, ErrorCode::kInvalidArgument, "the data for the input '{}' are empty: {}", input,
          t.shape().str());
  if (t.dtype() != DType::kFloat32) return;
  const std::span<const float> numbers = t.span<float>();
  const auto nans = std::count_if(numbers.begin(), numbers.end(), [](float x) { return std::isnan(x); });
  require(nans == 0, ErrorCode::kInvalidArgument, "{} of the {} numbers for the input '{}' are NaN", nans,
          numbers.size(), input);
  if (numbers.size() == 1) return;
  has_several_ = true;
  if (!constant_) constant_ = numbers.front();
  varies_ = varies_ || std::any_of(numbers.begin(), numbers.end(), [&](float x) { return x != *constant_; });
}

void DataCheck::add(const DataCheck& other) {
  has_several_ = has_several_ || other.has_several_;
  varies_ = varies_ || other.varies_ || (constant_ && other.constant_ && *constant_ != *other.constant_);
  if (!constant_) constant_ = other.constant_;
}

void DataCheck::finish(const std::function<void(const std::string&)>& warn) const {
  if (varies_ || !has_several_) return;
  std::string sentence =
      fmt::format("the data to calibrate with are constant: every number of every floating-point input is {}",
                  constant_.value_or(0));
  require(constant_.value_or(0) != 0, ErrorCode::kInvalidArgument, "{}", sentence);
  warn(sentence + ", and the scales are those of such data alone");
}

void DataCheck::write(JsonWriter& json) const {
  json.begin_object().key("has_several").value(has_several_).key("varies").value(varies_);
  // Which of several numbers came first hangs on the order of the parts.
  if (constant_ && !varies_) json.key("constant").value(static_cast<double>(*constant_));
  json.end_object();
}

DataCheck DataCheck::read(const JsonValue& object, const std::string& name) {
  const JsonFields fields(name);
  DataCheck check;
  check.has_several_ = fields.truth(object, "has_several");
  check.varies_ = fields.truth(object, "varies");
  if (object.find("constant") != nullptr) check.constant_ = float_of(fields, object, "constant");
  return check;
}

CalibrationStatistics::CalibrationStatistics(const Graph& g, CalibrationAlgorithm algorithm, double quantile)
    : algorithm_(algorithm), quantile_(quantile) {
  require(quantile_ > 0 && quantile_ <= 1, ErrorCode::kInvalidArgument,
          "the quantile {} is not above 0 and up to 1", quantile_);
  for (const Value* v : g.inputs) add_tensor(*v);
  for (const Value* v : g.outputs) add_tensor(*v);
}

void CalibrationStatistics::add_tensor(const Value& v) {
  names_.push_back(v.name());
  ranges_.emplace_back(algorithm_ != CalibrationAlgorithm::kMinMax && v.type.is_tensor() &&
                       v.type.dtype == DType::kFloat32);
}

void CalibrationStatistics::add(const std::vector<const Tensor*>& tensors, int threads) {
  ++sets_;
  // Neighbours are alike in size, so they go to different threads.
  const auto count = static_cast<int64_t>(tensors.size());
  parallel_for(threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t)
      for (int64_t i = t; i < count; i += threads) {
        const Tensor& tensor = *tensors[static_cast<size_t>(i)];
        if (tensor.dtype() == DType::kFloat32) ranges_[static_cast<size_t>(i)].add(tensor.span<float>());
      }
  });
}

void CalibrationStatistics::add(const CalibrationStatistics& other) {
  require(algorithm_ == other.algorithm_ && quantile_ == other.quantile_, ErrorCode::kInvalidArgument,
          "the algorithms differ: one is of {} with the quantile {}, and the other of {} with {}",
          algorithm_name(algorithm_), quantile_, algorithm_name(other.algorithm_), other.quantile_);
  require(names_ == other.names_, ErrorCode::kInvalidArgument,
          "the networks differ: one has {} tensors, and the other {}", names_.size(), other.names_.size());
  for (size_t i = 0; i < ranges_.size(); ++i) ranges_[i].add(other.ranges_[i]);
  sets_ += other.sets_;
  data_.add(other.data_);
}

CalibrationTable CalibrationStatistics::table(const std::function<void(const std::string&)>& warn) const {
  require(sets_ > 0, ErrorCode::kInvalidArgument, "there are no data to calibrate with");
  data_.finish(warn);
  CalibrationTable table{.algorithm = algorithm_};
  std::vector<float> scales(ranges_.size());
  parallel_for(static_cast<int64_t>(ranges_.size()), 8, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i)
      scales[i] = ranges_[i].scale(algorithm_, quantile_);
  });
  std::vector<std::string> not_finite;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].count() == 0) continue;
    table.scales.emplace(names_[i], scales[i]);
    if (ranges_[i].not_finite() > 0) not_finite.push_back(names_[i]);
  }
  if (!not_finite.empty())
    warn(fmt::format("Calibration met infinities or NaNs in {} tensor(s), which stay in float32: {}",
                     not_finite.size(), first_names(not_finite)));
  return table;
}

void CalibrationStatistics::write(JsonWriter& json) const {
  json.key("algorithm").value(algorithm_name(algorithm_)).key("quantile").value(quantile_);
  json.key("sets").value(sets_).key("data");
  data_.write(json);
  json.key("tensors").begin_array();
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const engine::TensorRange::State s = ranges_[i].state();
    json.begin_object().key("name").value(names_[i]).key("has_counts").value(s.has_counts);
    json.key("exponent").value(s.exponent).key("largest").value(static_cast<double>(s.largest));
    json.key("zeros").value(s.zeros).key("counted").value(s.counted).key("not_finite").value(s.not_finite);
    if (s.has_counts) json.key("counts").value(counts_text(s.counts));
    json.end_object();
  }
  json.end_array();
}

CalibrationStatistics CalibrationStatistics::read(const JsonValue& object, const std::string& name) {
  const JsonFields fields(name);
  CalibrationStatistics statistics;
  const std::string& algorithm = fields.text(object, "algorithm");
  const auto* const known =
      std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                   [&](CalibrationAlgorithm a) { return algorithm_name(a) == algorithm; });
  if (known == std::end(kAlgorithms)) fields.refuse(fmt::format("'{}' is no algorithm", algorithm));
  statistics.algorithm_ = *known;
  statistics.quantile_ = fields.number(object, "quantile");
  if (!(statistics.quantile_ > 0 && statistics.quantile_ <= 1))
    fields.refuse("the quantile is not above 0 and up to 1");
  statistics.sets_ = fields.count(object, "sets");
  statistics.data_ = DataCheck::read(fields.member(object, "data", JsonValue::Kind::kObject), name);
  for (const JsonValue& t : fields.items(object, "tensors")) {
    engine::TensorRange::State s{
        .has_counts = fields.truth(t, "has_counts"),
        .exponent = static_cast<int>(std::clamp(fields.number(t, "exponent"), -1e6, 1e6)),
        .largest = float_of(fields, t, "largest"),
        .zeros = fields.count(t, "zeros"),
        .counted = fields.count(t, "counted"),
        .not_finite = fields.count(t, "not_finite")};
    if (s.has_counts) s.counts = read_counts(fields.text(t, "counts"), fields);
    statistics.names_.push_back(fields.text(t, "name"));
    try {
      statistics.ranges_.emplace_back(s);
    } catch (const Error& e) {
      fields.refuse(fmt::format("'{}': {}", statistics.names_.back(), e.message()));
    }
  }
  return statistics;
}

}  // namespace assay
