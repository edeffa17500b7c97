// The element types that layers and tensors are held in, by name.
#pragma once

#include <map>
#include <string>

#include "assay/layer_types.h"

namespace assay::engine {

struct TypeRules {
  struct Wish {
    DType dtype = DType::kUndefined;
    /// Named by itself, not by a pattern that others fit, too: what has no floating-point numbers is then no
    /// reason to leave it out.
    bool is_exact = true;
    bool operator==(const Wish&) const = default;
  };

  PrecisionConstraints constraints = PrecisionConstraints::kNone;
  std::map<std::string, Wish> layers;  ///< by the name of an ONNX node, or of the first output of one without
  std::map<std::string, Wish> tensors;  ///< by name

  bool empty() const { return layers.empty() && tensors.empty(); }
  bool operator==(const TypeRules&) const = default;
};

}  // namespace assay::engine
