#include "passes/fold_choice.h"

#include <algorithm>
#include <unordered_set>

#include "assay/edit.h"
#include "graph/order.h"

namespace assay {
namespace {

/// What a constant adds to a model. Strings lie outside of their tensor.
int64_t bytes_of(const Tensor& t) {
  if (t.dtype() != DType::kString) return static_cast<int64_t>(t.nbytes());
  int64_t bytes = 0;
  for (const std::string& s : t.span<std::string>()) bytes += static_cast<int64_t>(s.size());
  return bytes;
}

int64_t bytes_of(const UnalignedTensor& t) {
  return t.dtype() == DType::kString ? bytes_of(t.aligned()) : static_cast<int64_t>(t.nbytes());
}

class Choice {
 public:
  Choice(const Graph& graph, const std::vector<ComputedNode>& computed, const FoldOptions& options,
         FoldReport& report)
      : computed_(computed), options_(options), report_(report) {
    needed_.insert(graph.outputs.begin(), graph.outputs.end());
    for (const Graph* sub : subgraphs(graph, true)) needed_.insert(sub->outputs.begin(), sub->outputs.end());
    for (size_t i = 0; i < computed.size(); ++i) numbers_[computed[i].node] = i;
    places_.assign(computed.size(), Place::kStored);
  }

  /// For each computed node whether its results are stored.
  std::vector<bool> run() {
    if (!options_.size_threshold) count_freed_bytes();
    // Backwards: what becomes of a result depends on what became of its uses.
    for (size_t i = computed_.size(); i-- > 0;) places_[i] = place(i);
    std::vector<bool> stored;
    for (const Place p : places_) stored.push_back(p == Place::kStored);
    return stored;
  }

 private:
  enum class Place : uint8_t {
    kStored,    ///< constants
    kUnneeded,  ///< the node stays until cleanup()
    kComputed,  ///< the node stays
  };

  /// Bytes of initializers that are of no use once a node is folded: those that only it uses, or only the
  /// folded nodes before it whose results only it uses.
  void count_freed_bytes() {
    freed_.assign(computed_.size(), 0);
    for (size_t i = 0; i < computed_.size(); ++i) {
      const Node* n = computed_[i].node;
      for (const Value* v : used_values(*n)) {
        const auto& users = v->consumers();
        if (needed_.contains(v) ||
            !std::all_of(users.begin(), users.end(), [&](const Node* c) { return c == n; }))
          continue;
        if (v->tensor().defined())
          freed_[i] += bytes_of(v->tensor());
        else if (const auto it = numbers_.find(v->producer());
                 it != numbers_.end() && has_one_output(it->second))
          freed_[i] += freed_[it->second];
      }
    }
  }

  bool has_one_output(size_t i) const { return computed_[i].node->outputs().size() == 1; }

  /// Whether a node that is not folded uses a result. What has no outputs has been folded before.
  bool is_used(const Node& n) const {
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      if (needed_.contains(v)) return true;
      for (const Node* user : v->consumers()) {
        const auto it = numbers_.find(user);
        const bool stays = it == numbers_.end() || places_[it->second] == Place::kComputed;
        if (stays && !user->outputs().empty()) return true;
      }
    }
    return false;
  }

  Place place(size_t i) {
    const ComputedNode& c = computed_[i];
    const bool used = is_used(*c.node);
    int64_t bytes = 0, largest = 0;
    for (const Tensor& t : c.results) {
      if (t.is_container()) return used ? Place::kComputed : Place::kUnneeded;
      const int64_t size = t.defined() ? bytes_of(t) : 0;
      bytes += size;
      largest = std::max(largest, size);
    }
    const bool fits =
        options_.size_threshold ? largest <= *options_.size_threshold : bytes - freed_[i] <= kMaxGrowth;
    if (fits) return Place::kStored;
    if (!used) return Place::kUnneeded;
    report_.too_large.push_back(
        {c.node->label(),
         options_.size_threshold
             ? fmt::format("its result has {} bytes, above the threshold of {}", largest,
                           *options_.size_threshold)
             : fmt::format("its result of {} bytes would make the model larger by {} bytes, more than {}",
                           bytes, bytes - freed_[i], kMaxGrowth)});
    return Place::kComputed;
  }

  const std::vector<ComputedNode>& computed_;
  const FoldOptions& options_;
  FoldReport& report_;
  std::unordered_set<const Value*> needed_;  // outputs of the graph and its subgraphs
  std::unordered_map<const Node*, size_t> numbers_;
  std::vector<Place> places_;
  std::vector<int64_t> freed_;
};

}  // namespace

std::vector<ComputedNode> choose_results(const Graph& graph, std::vector<ComputedNode> computed,
                                         const FoldOptions& options, FoldReport& report) {
  const std::vector<bool> stored = Choice(graph, computed, options, report).run();
  std::vector<ComputedNode> chosen;
  for (size_t i = 0; i < computed.size(); ++i)
    if (stored[i]) chosen.push_back(std::move(computed[i]));
  return chosen;
}

}  // namespace assay
