// Data for comparing two models, chosen to reveal differences.
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

/// Kinds of data of a trial.
enum class TrialKind : uint8_t {
  kUnit,           ///< [0, 1), integers 0 and 1, or the ranges that the user gave
  kSigned,         ///< about zero
  kNearConstants,  ///< constants of the models, their neighbours and multiples
  kScales,         ///< each input on a different scale
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
  /// Number of shape variants to try in turn when the model refuses the first ones.
  static int shape_variants();
  /// Number of ways to draw integers, each more conservative than the previous one.
  static constexpr int kTamings = 4;

  /// Throws Error for an input that cannot be random. The same arguments give the same data.
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
