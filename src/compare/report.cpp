#include "compare/report.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/python_repr.h"
#include "tensor/print.h"

namespace assay {
namespace {

constexpr int64_t kSmall = 100;  // elements

/// The position of a row-major index, as Python prints a tuple; 0 for the index of no element.
std::string position_text(int64_t index, const Shape& shape) {
  if (index < 0) return "0";
  Shape position = shape;
  for (size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return position.str();
}

bool is_bool(const Tensor& t) { return t.dtype() == DType::kBool; }

}  // namespace

std::string error_text(double statistic, DType kind) {
  return format_g(kind == DType::kFloat32 ? static_cast<float>(statistic) : statistic, 5);
}

std::string statistics_text(const Statistics& s, const Numbers& numbers, bool is_bool) {
  const auto mean = [](double x) { return error_text(x, DType::kFloat32); };
  const auto own = [&](double x) { return error_text(x, numbers.kind()); };
  std::string text = fmt::format(
      "mean={}, std-dev={}, var={}, median={}, min={} at {}, max={} at {}, avg-magnitude={}", mean(s.mean),
      own(s.std_dev), own(s.variance), own(s.median), own(s.min), position_text(s.min_index, numbers.shape()),
      own(s.max), position_text(s.max_index, numbers.shape()), mean(s.average_magnitude));
  if (!is_bool) text += fmt::format(", p90={}, p95={}, p99={}", own(s.p90), own(s.p95), own(s.p99));
  return text;
}

std::string type_text(const Tensor& tensor) {
  return fmt::format("(dtype={}, shape={})", dtype_name(tensor.dtype()), tensor.shape().str());
}

std::string indent_block(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

std::string name_column(const std::string& runner_name) { return fmt::format("{:35}", runner_name); }

void log_array(const ArrayReport& report, bool details, std::optional<HistogramRange> range) {
  const std::string text = statistics_text(report.statistics, report.numbers, report.is_bool);
  if (report.label.empty()) {
    log::info("{}", text);
  } else {
    log::info("{} | Stats: {}", report.label, text);
  }
  const log::Severity severity = details ? log::Severity::kInfo : log::Severity::kVerbose;
  if (!log::enabled(severity)) return;
  const log::Indent indent;
  if (report.numbers.size() <= kSmall)
    log::message(severity, "---- Values ----\n{}", indent_block(array_str(report.values())));
  if (report.numbers.size() == 0) return;
  const HistogramRange bins = range.value_or(own_range(report.statistics));
  log::message(severity, "{}", report.is_bool ? "" : histogram_text(report.numbers, bins));
}

PairReport::PairReport(const OutputPair& pair)
    : pair_(pair),
      identical_(pair.output0.identical(pair.output1)),
      numbers0_(pair.output0),
      numbers1_(pair.output1),
      statistics0_(statistics(numbers0_)),
      statistics1_(identical_ ? statistics0_ : statistics(numbers1_)) {}

void PairReport::log_arrays(bool details) const {
  const HistogramRange range = common_range(statistics0_, statistics1_);
  const auto report = [&](const std::string& runner, const std::string& name, const Tensor& output,
                          const Numbers& numbers, const Statistics& statistics) {
    log_array({.label = runner + ": " + name,
               .numbers = numbers,
               .statistics = statistics,
               .values = [&] { return output; },
               .is_bool = is_bool(output)},
              details, range);
  };
  report(pair_.runner0, pair_.name0, pair_.output0, numbers0_, statistics0_);
  report(pair_.runner1, pair_.name1, pair_.output1, numbers1_, statistics1_);
}

void log_whole_outputs(const OutputPair& pair) {
  if (!log::enabled(log::Severity::kSuperVerbose)) return;
  const auto whole = [](const std::string& runner, const std::string& name, const Tensor& output) {
    log::super_verbose("{} | Output: {} {}:\n{}", name_column(runner), name, type_text(output),
                       indent_block(array_str(output)));
  };
  whole(pair.runner0, pair.name0, pair.output0);
  whole(pair.runner1, pair.name1, pair.output1);
}

}  // namespace assay
