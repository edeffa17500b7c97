// Values as plain data, each once.
#pragma once

#include <unordered_map>

#include "assay/inspect.h"

namespace assay {

class ValueDescriptions {
 public:
  /// Null for null. `v` must live as long as this.
  DescribedValue of(const Value* v) {
    if (v == nullptr) return nullptr;
    DescribedValue& known = known_[v];
    if (known == nullptr)
      known = std::make_shared<const ValueDescription>(ValueDescription{.name = v->name(),
                                                                        .type = v->type,
                                                                        .is_constant = v->is_constant(),
                                                                        .depth = depth_of(v->graph())});
    return known;
  }
  std::vector<DescribedValue> of(const std::vector<Value*>& values) {
    std::vector<DescribedValue> list;
    list.reserve(values.size());
    for (const Value* v : values) list.push_back(of(v));
    return list;
  }

 private:
  static int depth_of(const Graph& g) {
    int depth = 0;
    for (const Graph* outer = g.parent(); outer != nullptr; outer = outer->parent()) ++depth;
    return depth;
  }

  std::unordered_map<const Value*, DescribedValue> known_;
};

}  // namespace assay
