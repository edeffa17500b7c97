// Data for comparing two models: what is most likely to show that they differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"
#include "run/data_loader.h"
#include "run/input_roles.h"

namespace assay {

/// What the numbers of a trial are like.
enum class TrialKind : uint8_t {
  kUnit,           ///< [0, 1), integers 0 and 1, or the ranges that the user gave
  kSigned,         ///< about zero
  kNearConstants,  ///< constants of the models, their neighbours and multiples
  kScales,         ///< each input on a scale of its own
  kEnds,           ///< ends of the types, and numbers next to them
  kSpecial,        ///< NaN, infinities and signed zeros among others
  kLarge,          ///< so large that sums and products leave the type's range
  kTiny,           ///< small and subnormal
  kTies,           ///< whole numbers and halves
  kEqual,          ///< all elements of an input equal
};
inline constexpr int kTrialKinds = 10;
/// For messages: "negative and positive numbers".
std::string_view trial_kind_name(TrialKind kind);
/// Trials of plain numbers, in which nothing overflows that is not meant to.
bool is_moderate(TrialKind kind);

/// Draws the inputs of a model's main graph.
class TrialData {
 public:
  /// The types of the graph's values must have been inferred. `constants` are numbers to come near to.
  TrialData(const Model& model, DataLoaderOptions options, std::vector<double> constants);

  /// Several extents are open, or an input's rank.
  bool has_open_shapes() const { return has_open_; }
  /// Ways to close the shapes that are tried one after the other where the model refuses the first ones.
  static int shape_variants();
  /// Ways to draw integers, each tamer than the one before.
  static constexpr int kTamings = 4;

  /// Throws Error for an input that nothing can be drawn for. The same arguments give the same data.
  TensorList draw(TrialKind kind, int trial, int shapes, int taming) const;

  const std::unordered_map<std::string, InputRole>& roles() const { return roles_; }

 private:
  const InputShape* given_shape(const Value& input) const;
  std::vector<InputShape> close_shapes(int variant) const;
  DataLoaderOptions loader_options(int trial) const;
  /// Whether the user's options say what its elements are: they stay as DataLoader has them.
  bool is_given(const Value& input, const Type& type) const;

  const Graph& graph_;
  DataLoaderOptions options_;
  std::vector<double> constants_;
  std::unordered_map<std::string, InputRole> roles_;
  bool has_open_ = false;
};

}  // namespace assay
