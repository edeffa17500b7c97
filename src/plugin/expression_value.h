// What expressions compute with, and what they ask about.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The value of an expression. Nothing (monostate) is an extent that is not known; using it is an error.
class ExpressionValue {
 public:
  using List = std::vector<ExpressionValue>;
  using Data = std::variant<std::monostate, bool, int64_t, double, std::string, List>;

  ExpressionValue() = default;
  /// One of the types of Data, exactly.
  template <typename T>
  requires std::constructible_from<Data, std::in_place_type_t<T>, T> ExpressionValue(T value)
      : data_(std::in_place_type<T>, std::move(value)) {}  // NOLINT: it is a value

  const Data& data() const { return data_; }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  /// For messages: a truth value, an integer, a number, text, a list, an unknown extent.
  std::string_view kind() const;

 private:
  Data data_;
};

/// Resolves the names in an expression.
class ExpressionScope {
 public:
  virtual ~ExpressionScope() = default;
  /// The node of the pattern's node `name`; never null for a name that was checked.
  virtual const Node* node(std::string_view name) const = 0;
  /// The value of the pattern's tensor `name`; null where the node leaves it out.
  virtual const Value* tensor(std::string_view name) const = 0;
  /// The model that the nodes belong to: its opsets decide what an attribute that is left out means.
  virtual const Model& model() const = 0;
};

}  // namespace assay
