// The small language in which a plugin's pattern asks about a match and computes attributes:
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
  /// The names that it asks about.
  const std::set<std::string>& nodes() const { return nodes_; }
  const std::set<std::string>& tensors() const { return tensors_; }

  /// Throws Error (kInvalidArgument) that shows the text: an attribute or a shape that is not there, operands
  /// of the wrong kind, an overflow, a division by zero, an index out of range.
  ExpressionValue evaluate(const ExpressionScope& scope) const;
  /// The same where the result must be true or false.
  bool holds(const ExpressionScope& scope) const;

 private:
  std::string text_;
  std::shared_ptr<const ExpressionTerm> root_;
  std::set<std::string> nodes_, tensors_;
};

}  // namespace assay
