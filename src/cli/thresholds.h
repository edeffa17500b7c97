// Conditions under which a command fails, as --fail-if takes them: error>1e-3, median>5ms, throughput<100.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {

/// Something that was measured. Times are in milliseconds, memory in MiB. NaN exceeds every threshold.
using Measured = std::vector<std::pair<std::string_view, double>>;

class Thresholds {
 public:
  Thresholds() = default;
  /// Each word is NAME, one of > >= < <=, and a number, which may have the unit of a time (s, ms, us) or of
  /// memory (K, M, G and the like). Throws Error (kInvalidArgument) naming the option and what it could have
  /// been.
  Thresholds(std::string_view option, std::span<const std::string> words,
             std::span<const std::string_view> names);

  bool is_empty() const { return conditions_.empty(); }
  /// A sentence for each condition that holds.
  std::vector<std::string> reached(const Measured& measured) const;

 private:
  struct Condition {
    std::string text, name;
    bool is_upper = true;  ///< it fails above
    bool is_open = true;   ///< the number itself passes
    double number = 0;
    bool holds(double measured) const;
  };
  static Condition read(std::string_view option, const std::string& word,
                        std::span<const std::string_view> names);

  std::vector<Condition> conditions_;
};

}  // namespace assay::cli
