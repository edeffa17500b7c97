// Descriptions of a model's inputs and outputs, common to all backends.
#pragma once

#include <vector>

#include "assay/backend.h"

namespace assay {

inline std::vector<TensorInfo> tensor_infos(const std::vector<Value*>& values) {
  std::vector<TensorInfo> list;
  for (const Value* v : values) list.push_back({v->name(), v->type});
  return list;
}

}  // namespace assay
