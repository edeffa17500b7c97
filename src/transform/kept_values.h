// Which values between products in 8 bits may be kept in 8 bits: those that only such products read, directly
// or behind operators that work on 8 bits.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The values that others are functions of, element by element.
class FunctionSources {
 public:
  /// `nodes` are those of a graph in topological order.
  FunctionSources(const Model& model, const std::vector<const Node*>& nodes);

  /// The value that this one is a function of: often itself.
  const Value* of(const Value* v) const {
    const auto it = sources_.find(v);
    return it == sources_.end() ? v : it->second;
  }

 private:
  void find(const Node& n, const Model& model);

  std::unordered_map<const Value*, const Value*> sources_;
};

class KeptValues {
 public:
  struct Questions {
    std::function<bool(const Value*)> has_scale;
    /// The node has to compute in float32.
    std::function<bool(const Node&)> stays_float;
    /// The node is a product that reads this input in 8 bits, or the rounding to them.
    std::function<bool(const Node&, const Value*)> reads_8_bits;
  };

  /// `nodes` are those of a graph in topological order.
  KeptValues(const Model& model, const std::vector<const Node*>& nodes, const Questions& questions);

  bool contains(const Value* v) const { return kept_.contains(v); }
  /// The value that this one is a function of, element by element: often itself.
  const Value* source(const Value* v) const { return sources_.of(v); }

  /// The value whose scale this one has: what is cut out of another value by a Split has that one's, if there
  /// is one, so that its 8 bits can be cut out, too; so have the pixels that a Resize selects, and what is
  /// kept of a MaxPool. A value that only a MaxPool reads has the scale of its result: the largest of rounded
  /// numbers is the largest one, rounded.
  enum class Through : uint8_t { kSplit, kSplitAndPool };
  static const Value* scaled(const Value* v, const std::map<std::string, float>& scales, Through through);

  /// Moves or selects elements of its first input, or of all inputs of a Concat.
  static bool is_move(const Node& n, const Model& model);
  /// A product of an image with one number for each of its channels, which the network computes as well.
  static bool is_gate(const Node& n);

 private:
  bool may_carry(const Node& n, const Model& model) const;

  FunctionSources sources_;
  std::unordered_set<const Value*> kept_;
};

}  // namespace assay
