#include "debug/accuracy_goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "assay/error.h"
#include "tensor/convert.h"

namespace assay::debug {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_measured(const Tensor& t) { return t.defined() && !t.is_container() && t.dtype() != DType::kString; }

double error_of(double own, double exact) {
  if (own == exact || (std::isnan(own) && std::isnan(exact))) return 0;
  const double error = std::abs(own - exact);
  return std::isfinite(error) ? error : kInfinity;
}

/// A positive number and nothing else.
double positive_number(std::string_view text, std::string_view whole) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(
      failed == std::errc() && end == text.data() + text.size() && number > 0 && std::isfinite(number),
      ErrorCode::kInvalidArgument,
      "'{}' is no accuracy; 40dB (signal to noise), abs:0.001 (the largest error) and rel:0.01 (the largest "
      "error in proportion to the largest number of its output) are some",
      whole);
  return number;
}

bool ends_with_decibels(std::string_view text) {
  return text.size() > 2 && (text[text.size() - 2] == 'd' || text[text.size() - 2] == 'D') &&
         (text.back() == 'B' || text.back() == 'b');
}

}  // namespace

void Accuracy::add(const Tensor& own, const Tensor& exact) {
  if (!is_measured(own) || !is_measured(exact)) return;
  if (own.shape() != exact.shape()) {
    *this = {.decibels = -kInfinity, .absolute = kInfinity, .relative = kInfinity};
    return;
  }
  const Tensor a = to_float64(own), b = to_float64(exact);
  const double *x = a.data<double>(), *y = b.data<double>();
  double signal = 0, noise = 0, largest = 0, worst = 0;
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double error = error_of(x[i], y[i]);
    noise += error * error;
    worst = std::max(worst, error);
    if (!std::isfinite(y[i])) continue;
    signal += y[i] * y[i];
    largest = std::max(largest, std::abs(y[i]));
  }
  if (noise > 0) decibels = std::min(decibels, signal > 0 ? 10 * std::log10(signal / noise) : -kInfinity);
  absolute = std::max(absolute, worst);
  if (worst > 0) relative = std::max(relative, largest > 0 ? worst / largest : kInfinity);
}

std::map<std::string, double> Accuracy::measures() const {
  return {{"decibels", decibels}, {"absolute", absolute}, {"relative", relative}};
}

Accuracy Accuracy::from(const std::map<std::string, double>& measures) {
  const auto of = [&](const char* name, double otherwise) {
    const auto it = measures.find(name);
    return it == measures.end() ? otherwise : it->second;
  };
  // What was not measured did not get that far.
  return {.decibels = of("decibels", -kInfinity),
          .absolute = of("absolute", kInfinity),
          .relative = of("relative", kInfinity)};
}

std::string Accuracy::str() const {
  if (absolute == 0) return "exact";
  return fmt::format("{:.1f} dB, at most {:.3g} off ({:.3g} %)", decibels, absolute, 100 * relative);
}

AccuracyGoal AccuracyGoal::parse(std::string_view text) {
  std::string_view number = text;
  if (ends_with_decibels(text)) {
    number.remove_suffix(2);
    while (number.ends_with(' ')) number.remove_suffix(1);
    return {Measure::kDecibels, positive_number(number, text)};
  }
  const bool is_relative = text.starts_with("rel:");
  if (is_relative || text.starts_with("abs:"))
    number.remove_prefix(4);
  else
    number = {};
  return {is_relative ? Measure::kRelative : Measure::kAbsolute, positive_number(number, text)};
}

double AccuracyGoal::excess(const Accuracy& accuracy) const {
  if (measure == Measure::kDecibels) return std::pow(10, (value - accuracy.decibels) / 10);
  const double error = measure == Measure::kAbsolute ? accuracy.absolute : accuracy.relative;
  return error / value * (error / value);
}

std::string AccuracyGoal::str() const {
  switch (measure) {
    case Measure::kDecibels:
      return fmt::format("{:g}dB", value);
    case Measure::kAbsolute:
      return fmt::format("abs:{:g}", value);
    case Measure::kRelative:
      break;
  }
  return fmt::format("rel:{:g}", value);
}

}  // namespace assay::debug
