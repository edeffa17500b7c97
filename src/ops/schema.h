// The parsed form of an operator's schema text (op_def.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay {

/// A formal input or output.
struct Parameter {
  enum class Option : uint8_t { kSingle, kOptional, kVariadic };
  std::string name;
  std::string type;  ///< a constraint's name or a literal type
  Option option = Option::kSingle;
  bool homogeneous = true;  ///< variadic: all of one type
  int min_arity = 1;        ///< variadic: the least number
  uint64_t kinds = 0;       ///< the kinds it allows: value_kind() of every tensor and container
};

/// A bit for tensors of an element type, or for sequences, optionals or maps of any type.
constexpr uint64_t value_kind(DType t) {
  return uint64_t{1} << (is_container(t) ? 40 + static_cast<int>(t) - static_cast<int>(DType::kSequence)
                                         : static_cast<int>(t));
}

/// A formal attribute.
struct AttributeDef {
  std::string name;
  std::string kind;  ///< int, floats, graph, ... as written in the schema text
  bool required = false;
  std::optional<Attribute::Data> fallback;  ///< the default
};

struct TypeConstraint {
  std::string name;
  std::vector<std::string> types;
};

struct Schema {
  std::vector<Parameter> inputs, outputs;
  std::vector<AttributeDef> attributes;
  std::vector<TypeConstraint> constraints;

  int min_inputs() const;
  int max_inputs() const;  ///< INT_MAX when variadic
  int min_outputs() const;
  int max_outputs() const;
  /// The formal input that the i-th actual input binds to; null past the end.
  const Parameter* input(size_t i) const;
  const Parameter* output(size_t i) const;
  const AttributeDef* attribute(std::string_view name) const;
  /// The types a parameter allows.
  std::vector<std::string> allowed_types(const Parameter& p) const;
};

/// Throws Error (kInternal) naming the line that cannot be read, or the missing version.
Schema parse_schema(std::string_view text);

/// The parsed schema of a version; parsed once and kept.
const Schema& schema_of(const OpVersion& version);

}  // namespace assay
