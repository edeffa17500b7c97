#include "cli/thresholds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "assay/error.h"
#include "base/similar_name.h"
#include "cli/args.h"
#include "run/python_parse.h"

namespace assay::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
/// Of milliseconds, and of MiB.
constexpr Unit kUnits[] = {{"", 1},           {"ms", 1},  {"us", 1e-3}, {"s", 1e3},    {"KiB", 1.0 / 1024},
                           {"K", 1.0 / 1024}, {"MiB", 1}, {"M", 1},     {"GiB", 1024}, {"G", 1024},
                           {"%", 1e-2}};

const Unit* find_unit(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == name; });
  return it == std::end(kUnits) ? nullptr : it;
}

/// The number, and what follows it.
std::pair<std::string, std::string_view> split_number(std::string_view text) {
  const size_t end = text.find_last_of("0123456789.") + 1;
  return {std::string(text.substr(0, end)), text.substr(end)};
}

}  // namespace

Thresholds::Thresholds(std::string_view option, std::span<const std::string> words,
                       std::span<const std::string_view> names) {
  for (const std::string& word : words) conditions_.push_back(read(option, word, names));
}

Thresholds::Condition Thresholds::read(std::string_view option, const std::string& word,
                                       std::span<const std::string_view> names) {
  Condition c{.text = word};
  const size_t at = word.find_first_of("<>");
  require(at != std::string::npos && at > 0, ErrorCode::kInvalidArgument,
          "{}: '{}' is no condition: it is a name, > or <, and a number, as in {}>1e-3", option, word,
          names.front());
  c.name = word.substr(0, at);
  c.is_upper = word[at] == '>';
  size_t after = at + 1;
  if (after < word.size() && word[after] == '=') {
    c.is_open = false;
    ++after;
  }
  if (std::find(names.begin(), names.end(), c.name) == names.end()) {
    const std::vector<std::string> all(names.begin(), names.end());
    const std::string near = nearest_name(c.name, all);
    fail(ErrorCode::kInvalidArgument, "{}: nothing called '{}' is measured{}; there are: {}", option, c.name,
         near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(names, ", "));
  }
  const auto [digits, unit_name] = split_number(std::string_view(word).substr(after));
  const auto number = python_float(digits);
  const Unit* unit = find_unit(unit_name);
  require(number.has_value() && unit != nullptr, ErrorCode::kInvalidArgument,
          "{}: in '{}', '{}' is no number with a unit (none, s, ms, us, K, M, G, %)", option, word,
          word.substr(after));
  c.number = *number * unit->factor;
  return c;
}

bool Thresholds::Condition::holds(double measured) const {
  if (std::isnan(measured)) return true;
  if (measured == number) return !is_open;
  return is_upper == (measured > number);
}

std::vector<std::string> Thresholds::reached(const Measured& measured) const {
  std::vector<std::string> sentences;
  for (const Condition& c : conditions_)
    for (const auto& [name, value] : measured)
      if (name == c.name && c.holds(value))
        sentences.push_back(fmt::format("{} is {:.6g}, and {} fails", name, value, c.text));
  return sentences;
}

}  // namespace assay::cli
