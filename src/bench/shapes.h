// Shapes of inputs as they are typed, and the optimization profiles that follow from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend.h"
#include "assay/optimization_profile.h"

namespace assay::bench {

/// The extents that are given for an input, or the elements of one that is a shape tensor.
struct InputExtents {
  std::string name;
  std::vector<int64_t> extents;
  bool operator==(const InputExtents&) const = default;
};
/// Those of one run; each input once.
using ShapeSet = std::vector<InputExtents>;

/// Parts between commas that stand outside of brackets and of single quotes.
std::vector<std::string> split_list(std::string_view text);

/// Reads `NAME:1x3x224x224` and `NAME:[1,3,224,224]`, split at the last colon, the name perhaps in single
/// quotes, no extents or `scalar` for a scalar; `words` hold one or, between commas, several. An input that
/// is named again begins the next set. `option` is for errors. Throws Error (kInvalidArgument).
std::vector<ShapeSet> parse_shape_sets(std::string_view option, const std::vector<std::string>& words);
/// The same where there is no next set: an input that is named twice is an error.
ShapeSet parse_shape_set(std::string_view option, const std::vector<std::string>& words);

/// What was typed for one profile.
struct ProfileShapes {
  ShapeSet min, opt, max;
  bool empty() const { return min.empty() && opt.empty() && max.empty(); }
};

/// True for an integer input of rank 0 or 1 whose shape is declared: what is given for it are elements.
bool takes_elements(const Type& type);

/// Profiles for a network: bounds that are missing are those next to them (min: opt, else max; opt: max, else
/// min; max: opt, else min); an input without bounds takes those that `runs` need, the first of them to be
/// fast at; open extents that nothing is said of become 1. `warnings` receives a sentence for each such
/// input. None when every shape is declared and no elements are given. Throws Error (kInvalidArgument,
/// kNotFound) naming the input.
std::vector<OptimizationProfile> make_profiles(const std::vector<TensorInfo>& inputs,
                                               const std::vector<ProfileShapes>& given,
                                               const std::vector<ShapeSet>& runs,
                                               std::vector<std::string>& warnings);

/// What one input is in a run.
struct InputCase {
  TensorInfo info;
  Shape shape;
  std::vector<int64_t> elements;  ///< of a shape tensor; empty: any will do
};

/// Each input of a run: as `run` says, else as the profile is fastest at (null: there is none), else as
/// declared with open extents of 1. Throws Error (kInvalidArgument, kNotFound) naming the input.
std::vector<InputCase> make_cases(const std::vector<TensorInfo>& inputs, const ShapeSet& run,
                                  const OptimizationProfile* profile);

/// "x:1x3x224x224, ids:1x128", the elements of shape tensors in place of their shapes.
std::string cases_text(const std::vector<InputCase>& cases);
/// "1x3x224x224"; "scalar".
std::string extents_text(const std::vector<int64_t>& extents);

}  // namespace assay::bench
