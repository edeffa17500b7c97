// Shapes of inputs as typed, and the resulting optimization profiles.
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

/// Splits at commas outside of brackets and single quotes.
std::vector<std::string> split_list(std::string_view text);

/// Reads `NAME:1x3x224x224` and `NAME:[1,3,224,224]`, split at the last colon, the name perhaps in single
/// quotes, no extents or `scalar` for a scalar; `words` hold one or, between commas, several. An input that
/// is named again begins the next set. `option` is for errors. Throws Error (kInvalidArgument).
std::vector<ShapeSet> parse_shape_sets(std::string_view option, const std::vector<std::string>& words);
/// The same for a single set: an input that is named twice is an error.
ShapeSet parse_shape_set(std::string_view option, const std::vector<std::string>& words);

/// The bounds typed for one profile.
struct ProfileShapes {
  ShapeSet min, opt, max;
  bool empty() const { return min.empty() && opt.empty() && max.empty(); }
};

/// True for an integer input of rank 0 or 1 whose shape is declared: numbers given for it are elements.
bool takes_elements(const Type& type);

/// Profiles for a network: missing bounds are taken from the others (min: opt, else max; opt: max, else min;
/// max: opt, else min); an input without bounds gets those that `runs` need, with the first as optimum;
/// unspecified open extents become 1. `warnings` receives a sentence for each such
/// input. None when every shape is declared and no elements are given. Throws Error (kInvalidArgument,
/// kNotFound) naming the input.
std::vector<OptimizationProfile> make_profiles(const std::vector<TensorInfo>& inputs,
                                               const std::vector<ProfileShapes>& given,
                                               const std::vector<ShapeSet>& runs,
                                               std::vector<std::string>& warnings);

/// One input of a run.
struct InputCase {
  TensorInfo info;
  Shape shape;
  std::vector<int64_t> elements;  ///< of a shape tensor; empty: any values
};

/// Each input of a run: from `run`, else the profile's optimum (null: no profile), else as declared with open
/// extents of 1. Throws Error (kInvalidArgument, kNotFound) naming the input.
std::vector<InputCase> make_cases(const std::vector<TensorInfo>& inputs, const ShapeSet& run,
                                  const OptimizationProfile* profile);

/// "x:1x3x224x224, ids:1x128", the elements of shape tensors in place of their shapes.
std::string cases_text(const std::vector<InputCase>& cases);
/// "1x3x224x224"; "scalar".
std::string extents_text(const std::vector<int64_t>& extents);

}  // namespace assay::bench
