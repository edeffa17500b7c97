// Positions of values in a node's lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// The first position of values in the inputs or outputs of nodes. Long lists are searched once.
class Slots {
 public:
  /// Above this number of values a list is long.
  static constexpr size_t kFew = 16;

  uint64_t input(const Node& n, const Value* v) { return find(inputs_, n, n.inputs(), v); }
  uint64_t output(const Node& n, const Value* v) { return find(outputs_, n, n.outputs(), v); }

 private:
  using Places = std::unordered_map<const Value*, uint64_t>;
  using Known = std::unordered_map<const Node*, Places>;

  static uint64_t find(Known& known, const Node& n, const std::vector<Value*>& list, const Value* v) {
    if (list.size() <= kFew)
      return static_cast<uint64_t>(std::find(list.begin(), list.end(), v) - list.begin());
    const auto [it, is_new] = known.try_emplace(&n);
    for (size_t i = 0; is_new && i < list.size(); ++i) it->second.emplace(list[i], i);
    const auto place = it->second.find(v);
    return place != it->second.end() ? place->second : list.size();
  }

  Known inputs_, outputs_;
};

}  // namespace assay
