// What the numbers of a model's inputs may be, as far as the nodes that read them say.
#pragma once

#include <cstdint>
#include <string>

#include "assay/graph.h"
#include "run/data_loader.h"

namespace assay {

/// The meaning of an input's numbers.
struct InputRole {
  enum class Kind : uint8_t { kAny, kIndex, kDivisor, kShape, kCount, kAxis };
  Kind kind = Kind::kAny;
  int64_t extent = 0;  ///< kIndex: of the axis, 0 where it is not known; kAxis: the rank
  std::string node;    ///< the node that says so
};

/// Of the nodes that read the value, and of those behind nodes that hand it on. The types of the graph's
/// values must have been inferred.
InputRole find_role(const Model& model, const Value& input);

/// Whether the options say between which numbers the input's are.
bool has_user_range(const DataLoaderOptions& options, const Value& input);

/// Replaces what the nodes that read an input cannot take by what they can: divisors 0, indices beyond the
/// axis, and what says shapes, counts and axes. Inputs for which a range is given stay as they are. The types
/// of the graph's values must have been inferred.
void obey_roles(const Model& model, const DataLoaderOptions& given, TensorList& feed);

}  // namespace assay
