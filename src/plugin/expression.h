// The expression language of a plugin's pattern, for conditions on a match and computed attributes:
// docs/guide/plugins.md.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "plugin/expression_value.h"

namespace assay {

struct ExpressionTerm;  // plugin/expression_term.h

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

 private:
  std::string text_;
  std::shared_ptr<const ExpressionTerm> root_;
  std::set<std::string> nodes_, tensors_;
};

}  // namespace assay
