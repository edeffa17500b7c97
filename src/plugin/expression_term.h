// The parsed form of an expression; for the files expression*.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/expression_value.h"

namespace assay {

struct ExpressionTerm {
  enum class Kind : uint8_t {
    kLiteral,    ///< value
    kList,       ///< operands
    kAttribute,  ///< name.member
    kTensor,     ///< name, as the argument of a function
    kCall,       ///< name(operands)
    kIndex,      ///< operands[0][operands[1]]
    kUnary,      ///< name operands[0]
    kBinary,     ///< operands[0] name operands[1]
  };
  Kind kind = Kind::kLiteral;
  ExpressionValue value;
  std::string name, member;
  std::vector<ExpressionTerm> operands;
};

/// The kind of a function's argument: one tensor, one attribute, or values.
enum class ArgumentKind : uint8_t { kTensor, kAttribute, kValues };
struct FunctionDef {
  std::string_view name;
  ArgumentKind arguments;
};
/// Null when there is none of that name.
const FunctionDef* find_function(std::string_view name);

/// Throws Error without the expression's text.
ExpressionValue evaluate_term(const ExpressionTerm& term, const ExpressionScope& scope);

}  // namespace assay
