// Options that differ between outputs, and the numbers in them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/name_pattern.h"
#include "base/python_repr.h"

namespace assay {

/// A number that reports print as it was written: 1 and 1.0 are distinguished.
struct Tolerance {
  Tolerance(double value) : value(value) {}               // NOLINT: numbers are tolerances
  Tolerance(int value) : value(value), integral(true) {}  // NOLINT
  Tolerance(int64_t value) : value(static_cast<double>(value)), integral(true) {}  // NOLINT

  double value;
  bool integral = false;

  /// As Python prints the number: 1, 1.0, 1e-05.
  std::string str() const {
    return integral ? std::to_string(static_cast<int64_t>(value)) : python_float_repr(value);
  }
};

/// A value per output name. A name may be a pattern (base/name_pattern.h): an output takes the value of its
/// own name, else of the last matching pattern, else of the name "".
template <typename T>
class PerOutput {
 public:
  PerOutput() = default;
  /// One value for all outputs.
  PerOutput(T value) { set("", std::move(value)); }  // NOLINT: converts on purpose

  /// A later value of a name replaces the earlier one. Throws Error for a regular expression that is wrong.
  void set(std::string_view name, T value) {
    for (auto& [known, old] : entries_)
      if (known == name) {
        old = std::move(value);
        return;
      }
    patterns_.emplace_back(name);
    entries_.emplace_back(name, std::move(value));
  }

  /// The value for an output; null when there is none.
  const T* find(std::string_view name) const {
    const std::span<const NamePattern> patterns(patterns_);
    const auto same = [](const NamePattern& p) -> const NamePattern& { return p; };
    const NamePattern* p = find_match(patterns, name, same);
    if (p == nullptr) p = find_match(patterns, "", same);
    return p != nullptr ? &entries_[static_cast<size_t>(p - patterns.data())].second : nullptr;
  }
  T get(std::string_view name, T otherwise) const {
    const T* found = find(name);
    return found ? *found : otherwise;
  }

  bool empty() const { return entries_.empty(); }
  const std::vector<std::pair<std::string, T>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, T>> entries_;
  std::vector<NamePattern> patterns_;  // of the entries' names
};

}  // namespace assay
