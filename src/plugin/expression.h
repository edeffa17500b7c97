// The expression language of a plugin's pattern, for conditions on a match and computed attributes:
// docs/guide/plugins.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The value of an expression. Nothing (monostate) is an unknown extent; using it is an error.
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
  /// For messages: a boolean, an integer, a number, text, a list, an unknown extent.
  std::string_view kind() const;

 private:
  Data data_;
};

/// The values of names in an expression.
class ExpressionScope {
 public:
  virtual ~ExpressionScope() = default;
  /// The node of the pattern's node `name`; never null for a name that was checked.
  virtual const Node* node(std::string_view name) const = 0;
  /// The value of the pattern's tensor `name`; null if the node omits it.
  virtual const Value* tensor(std::string_view name) const = 0;
  /// The model that the nodes belong to: its opsets determine the defaults of omitted attributes.
  virtual const Model& model() const = 0;
};

/// A parsed expression.
class Expression {
 public:
  /// Throws Error (kInvalidArgument) that shows the text and the place.
  explicit Expression(std::string text);

  const std::string& text() const { return text_; }
  /// The names that it uses.
  const std::set<std::string>& nodes() const { return nodes_; }
  const std::set<std::string>& tensors() const { return tensors_; }

  /// Throws Error (kInvalidArgument) that shows the text: a missing attribute or shape, operands of the wrong
  /// kind, an overflow, a division by zero, an index out of range.
  ExpressionValue evaluate(const ExpressionScope& scope) const;
  /// The same for a boolean result.
  bool holds(const ExpressionScope& scope) const;

  struct Term;

 private:
  std::string text_;
  std::shared_ptr<const Term> root_;
  std::set<std::string> nodes_, tensors_;
};

}  // namespace assay
