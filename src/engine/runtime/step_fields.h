// The parameters of a tactic's steps as members of a structure that describes them once. The proposal of a
// step uses the description to write it into the plan; creating the step's kernel uses it to read and check:
//
//   struct StepFields {
//     int64_t rank = 0;  // not described: what the reader knows besides, for bounds
//     int64_t axis = 0;
//     bool largest = false;
//     void fields(FieldVisitor& visit) {
//       visit("axis", axis, {0, rank - 1});
//       visit("largest", largest);
//     }
//   };
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/error.h"
#include "engine/plan/parameters.h"

namespace assay::engine {

/// Throws Error (kInvalidModel) with the rule that a step violates.
template <typename... Args>
void check_plan(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    fail(ErrorCode::kInvalidModel, "the plan is wrong: {}", fmt::format(format, std::forward<Args>(args)...));
}

/// The range of valid numbers.
struct Bounds {
  int64_t low = 0, high = std::numeric_limits<int64_t>::max();
};
inline constexpr Bounds kUnbounded{std::numeric_limits<int64_t>::min()};
inline constexpr Bounds kPositive{1};

/// Visits each member with its name in the plan: writes it, or reads and checks it.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  virtual void operator()(std::string_view name, int64_t& number, Bounds bounds = {}) = 0;
  virtual void operator()(std::string_view name, double& number) = 0;
  virtual void operator()(std::string_view name, std::string& text) = 0;
  /// Exactly `count` numbers when read.
  virtual void operator()(std::string_view name, std::vector<int64_t>& list, size_t count,
                          Bounds bounds = kUnbounded) = 0;
  virtual void operator()(std::string_view name, std::vector<double>& list, size_t count) = 0;
  /// Any number of them.
  virtual void operator()(std::string_view name, std::vector<int64_t>& list) = 0;
  virtual void operator()(std::string_view name, std::vector<std::string>& list) = 0;

  // Other types are stored as one of these.
  void operator()(std::string_view name, bool& flag) { as_number(name, flag, {0, 1}); }
  void operator()(std::string_view name, int& number, Bounds bounds) { as_number(name, number, bounds); }
  void operator()(std::string_view name, float& number) {
    double wide = number;
    (*this)(name, wide);
    number = static_cast<float>(wide);
  }
  /// An enumeration by its number, up to `last`.
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(std::string_view name, Enum& value, Enum last) {
    as_number(name, value, {0, static_cast<int64_t>(last)});
  }
  /// An enumeration by its name. `refusal` is the message for an unknown text, "{}".
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(std::string_view name, Enum& value, std::span<const std::string_view> names,
                  const char* refusal) {
    value = static_cast<Enum>(one_of(name, static_cast<size_t>(value), names, refusal));
  }
  template <size_t N>
  void operator()(std::string_view name, std::array<int64_t, N>& numbers, Bounds bounds = kUnbounded) {
    std::vector<int64_t> list(numbers.begin(), numbers.end());
    (*this)(name, list, N, bounds);
    std::copy(list.begin(), list.end(), numbers.begin());
  }
  /// Several members in one list.
  void operator()(std::string_view name, std::initializer_list<int64_t*> numbers, Bounds bounds) {
    std::vector<int64_t> list;
    for (const int64_t* n : numbers) list.push_back(*n);
    (*this)(name, list, numbers.size(), bounds);
    std::ranges::for_each(numbers, [i = list.begin()](int64_t* n) mutable { *n = *i++; });
  }
  void operator()(std::string_view name, std::initializer_list<bool*> flags) {
    std::vector<int64_t> list;
    for (const bool* f : flags) list.push_back(int64_t{*f});
    (*this)(name, list, flags.size(), {0, 1});
    std::ranges::for_each(flags, [i = list.begin()](bool* f) mutable { *f = *i++ != 0; });
  }
  /// Optional; `rest` are the further arguments if it is present.
  template <typename T, typename... Rest>
  void operator()(std::string_view name, std::optional<T>& value, const Rest&... rest) {
    if (!is_present(name, value.has_value())) return value.reset();
    if (!value) value.emplace();
    (*this)(name, *value, rest...);
  }

  /// True when a parameter is present: when writing, `wanted`.
  virtual bool is_present(std::string_view name, bool wanted) = 0;

 protected:
  virtual size_t one_of(std::string_view name, size_t value, std::span<const std::string_view> names,
                        const char* refusal) = 0;

 private:
  template <typename T>
  void as_number(std::string_view name, T& value, Bounds bounds) {
    auto number = static_cast<int64_t>(value);
    (*this)(name, number, bounds);
    value = static_cast<T>(number);
  }
};

class FieldWriter final : public FieldVisitor {
 public:
  explicit FieldWriter(Parameters& parameters) : parameters_(parameters) {}

  using FieldVisitor::operator();
  void operator()(std::string_view name, int64_t& number, Bounds bounds) override;
  void operator()(std::string_view name, double& number) override;
  void operator()(std::string_view name, std::string& text) override;
  void operator()(std::string_view name, std::vector<int64_t>& list, size_t count, Bounds bounds) override;
  void operator()(std::string_view name, std::vector<double>& list, size_t count) override;
  void operator()(std::string_view name, std::vector<int64_t>& list) override;
  void operator()(std::string_view name, std::vector<std::string>& list) override;
  bool is_present(std::string_view name, bool wanted) override;

 protected:
  size_t one_of(std::string_view name, size_t value, std::span<const std::string_view> names,
                const char* refusal) override;

 private:
  Parameters& parameters_;
};

/// Appends the parameters described by `fields`.
template <typename Fields>
void write_fields(Fields fields, Parameters& parameters) {
  FieldWriter writer(parameters);
  fields.fields(writer);
}

/// Throws Error (kInvalidModel) naming a parameter that is missing, of another kind or out of bounds.
class FieldReader final : public FieldVisitor {
 public:
  explicit FieldReader(const Parameters& parameters) : parameters_(parameters) {}

  using FieldVisitor::operator();
  void operator()(std::string_view name, int64_t& number, Bounds bounds) override;
  void operator()(std::string_view name, double& number) override;
  void operator()(std::string_view name, std::string& text) override;
  void operator()(std::string_view name, std::vector<int64_t>& list, size_t count, Bounds bounds) override;
  void operator()(std::string_view name, std::vector<double>& list, size_t count) override;
  void operator()(std::string_view name, std::vector<int64_t>& list) override;
  void operator()(std::string_view name, std::vector<std::string>& list) override;
  bool is_present(std::string_view name, bool wanted) override;

 protected:
  size_t one_of(std::string_view name, size_t value, std::span<const std::string_view> names,
                const char* refusal) override;

 private:
  template <typename T>
  const T& get(std::string_view name) const;
  template <typename T>
  const std::vector<T>& list_of(std::string_view name, size_t count) const;

  const Parameters& parameters_;
};

}  // namespace assay::engine
