// Named parameters of a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assay/error.h"

namespace assay::engine {

using Parameter = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>>;

/// An ordered map from names to numbers, strings and lists of them.
class Parameters {
 public:
  void set(std::string name, Parameter value);
  /// Null when there is none of that name, or of another kind.
  template <typename T>
  const T* find(std::string_view name) const {
    for (const auto& [key, value] : entries_)
      if (key == name) return std::get_if<T>(&value);
    return nullptr;
  }
  /// Throws Error (kInternal) when there is none.
  template <typename T>
  const T& get(std::string_view name) const {
    const T* value = find<T>(name);
    require(value != nullptr, ErrorCode::kInternal, "a step lacks the parameter '{}'", name);
    return *value;
  }
  int64_t number(std::string_view name) const { return get<int64_t>(name); }
  double real(std::string_view name) const { return get<double>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const std::vector<int64_t>& numbers(std::string_view name) const { return get<std::vector<int64_t>>(name); }

  const std::vector<std::pair<std::string, Parameter>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, Parameter>> entries_;
};

/// strides=[2, 2].
std::string parameter_text(std::string_view name, const Parameter& value);

}  // namespace assay::engine
