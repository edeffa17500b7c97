// A case in the making: a node that its specification allows, whatever the version.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/random_case.h"
#include "ops/schema.h"

namespace assay::fuzz {

/// Recipes (recipes.def) fill it in. They name parameters as schemas do; what a version does not have is
/// ignored, so one recipe serves all versions.
class Draft {
 public:
  Draft(const OpDef& op, const OpVersion& version, Random& random);

  Random& r;
  const OpDef& op;
  const Schema& schema;
  const int since;
  /// How many outputs the node has; -1: any number that the schema allows.
  int outputs = -1;
  /// The opset of ai.onnx for operators of other domains and for nodes in subgraphs.
  int standard_opset = 21;

  bool is(std::string_view name) const { return op.name == name; }
  bool has_input(std::string_view name) const;
  bool has_attr(std::string_view name) const { return schema.attribute(name) != nullptr; }

  /// The element type of a type constraint, or of a literal type: drawn once from those allowed, mostly
  /// common ones.
  DType dtype(std::string_view constraint);
  /// Draws the type of a constraint from these, as far as it allows them; false when it allows none.
  bool choose(std::string_view constraint, const std::vector<DType>& types);
  /// The element type of an input, by its name.
  DType input_dtype(std::string_view name);

  /// Gives an input. The second form has random numbers of the input's type in [low, high].
  void input(std::string_view name, Tensor value);
  void input(std::string_view name, const Shape& shape, double low = -4, double high = 4);
  /// The same for an optional input, with this probability.
  void maybe_input(std::string_view name, const Shape& shape, int percent = 50, double low = -4,
                   double high = 4);
  /// One more value of the variadic input, which is the last.
  void more(Tensor value) { more_.push_back(std::move(value)); }

  void attr(std::string_view name, Attribute::Data value);
  /// Any of the words, or nothing, which means the default.
  void word(std::string_view name, const std::vector<std::string>& words);
  /// Coins for a 0/1 attribute.
  void flag(std::string_view name) {
    if (r.chance(60)) attr(name, int64_t{r.chance(50)});
  }
  void number(std::string_view name, double low, double high);
  /// Integers given as an attribute or as an int64 (or int32) input, whichever the version has.
  void ints(std::string_view name, std::vector<int64_t> values);
  /// One of them: an int attribute or an input of this rank.
  void integer(std::string_view name, int64_t value, int rank = 0);

  /// Random elements. Floats are multiples of 1/4 or any number, in [low, high]; integers as far as the type
  /// has them.
  Tensor values(DType dtype, const Shape& shape, double low = -4, double high = 4);
  Tensor integers(DType dtype, const Shape& shape, int64_t low, int64_t high);
  int64_t extent();  ///< mostly 1 to 4, rarely 0
  int64_t positive(int64_t most = 4) { return r.between(1, most); }
  Shape shape(int least_rank, int most_rank);
  Shape positive_shape(int least_rank, int most_rank);
  /// A shape that broadcasts to this one (by the rules of numpy, in one direction).
  Shape broadcast_to(const Shape& shape);
  /// An axis of this rank, also counted from the end in versions since 11 (or `negative_since`).
  int64_t axis(int rank, int negative_since = 11);
  /// Some of the axes, all different, in any order.
  std::vector<int64_t> axes(int rank, int negative_since = 11);

  /// The case with one node. Inputs of the schema that have to be there and were not given get `base`.
  Case finish(const Shape& base);

 private:
  size_t index_of(std::string_view input) const;

  const OpVersion& version_;
  std::map<std::string, DType, std::less<>> bound_;
  std::vector<Tensor> given_, more_;
  AttributeList attributes_;
};

/// A case that the specification of this version allows, with values for which it says the result.
Case valid_case(const OpDef& op, const OpVersion& version, Random& random);

}  // namespace assay::fuzz
