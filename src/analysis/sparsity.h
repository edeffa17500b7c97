// 2:4 structured sparsity: of every four neighbours along the axis that a product sums over, two are zero.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A constant that Conv, MatMul or Gemm use as a factor, and the axis that they sum over.
struct SparsityTarget {
  Value* weight;
  size_t axis;
};

/// The weights of a graph that can be checked for the pattern, and those that cannot.
struct SparsityTargets {
  std::vector<SparsityTarget> eligible;

  /// A factor computed by an unsupported operator.
  struct Unreached {
    std::string factor, producer, op_type;
  };
  std::vector<Unreached> unreached;

  struct Skipped {
    enum class Why : uint8_t {
      kMarked,      ///< excluded by the caller
      kType,        ///< neither float32, float16 nor bfloat16
      kNoData,      ///< its data were not loaded
      kNoAxis,      ///< not a matrix with one reduction axis
      kNotInFours,  ///< four does not divide the extent of that axis
    };
    const Value* weight;
    std::optional<size_t> axis;
    Why why;
    std::string reason;  ///< such as `unsupported type: int8`
  };
  std::vector<Skipped> skipped;

  size_t candidates() const { return eligible.size() + skipped.size(); }
};

/// The weights of the main graph: initializers that reach a Conv (its weights) or a MatMul or Gemm (either
/// factor) directly or through QuantizeLinear, DequantizeLinear, Cast and Transpose. Excludes batches of
/// matrices. Each once, in order of first use; the last use determines the axis. `is_skipped` marks those to
/// be excluded.
SparsityTargets find_sparsity_targets(const Model& model,
                                      const std::function<bool(const Value&)>& is_skipped = {});

/// True when at least two of every four neighbours along the axis are zero. The tensor is of one of those
/// types and its extent along the axis a multiple of four. Stops reading at the first group that breaks the
/// pattern.
bool has_2_4_sparsity(const UnalignedTensor& tensor, size_t axis);

/// Observes a search.
class SparsityObserver {
 public:
  virtual ~SparsityObserver() = default;
  virtual void on_targets(const SparsityTargets&) {}
  virtual void on_checked(const Value& /*weight*/, bool /*is_sparse*/) {}
  virtual void on_end(const SparsityTargets&) {}
};
struct SparsityReport {
  SparsityTargets targets;
  std::vector<bool> is_sparse;  ///< of each that is eligible
};
/// Releases the pages of mapped weights as soon as they were checked.
SparsityReport check_sparsity(const Model& model, SparsityObserver& observer);

}  // namespace assay
