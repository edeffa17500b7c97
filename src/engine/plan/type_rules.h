// Requested element types of layers and tensors, by name.
#pragma once

#include <map>
#include <string>

#include "assay/layer_types.h"

namespace assay::engine {

struct TypeRules {
  struct Wish {
    DType dtype = DType::kUndefined;
    /// Named explicitly, not by a pattern: a layer without floating-point numbers is then reported instead of
    /// skipped.
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
