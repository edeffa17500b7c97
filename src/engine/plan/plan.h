// The plan, built by the builder and executed by the runtime: values with their memory, constants, and steps
// in order. It is plain data, which can be printed and written to a file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "assay/tensor.h"
#include "engine/plan/parameters.h"

namespace assay::engine {

/// The memory layout of a value.
struct Layout {
  /// 0: row-major. kAllChannels: axis 1 is the innermost dimension, [N, spatial..., C]. Otherwise axis 1 is
  /// split into blocks of this many channels and the position within the block is the innermost dimension:
  /// [N, ceil(C / block), spatial..., block]. Padding channels of the last block are 0.
  int32_t block = 0;

  static constexpr int32_t kAllChannels = -1;
  static constexpr Layout channels_last() { return {kAllChannels}; }

  bool is_row() const { return block == 0; }
  bool is_blocked() const { return block > 0; }
  bool is_channels_last() const { return block == kAllChannels; }
  bool operator==(const Layout&) const = default;
  /// row, channels_last or blocked16.
  std::string str() const;
};

/// The format of a stored value: its layout, and its element type if that differs from its own.
struct Format {
  Layout layout;
  DType dtype = DType::kUndefined;  ///< kUndefined: the value's own

  Format(Layout l = {}, DType d = DType::kUndefined)
      : layout(l), dtype(d) {}  // NOLINT: most have only a layout
  bool operator==(const Format&) const = default;
  /// channels_last, or channels_last uint8.
  std::string str() const;
};

/// Bytes of a value of a fixed-size type.
size_t layout_bytes(DType dtype, const Shape& shape, Layout layout);
/// True when both layouts place every element of the shape at the same address.
bool same_memory(const Shape& shape, Layout a, Layout b);

/// Types to which float32 values may be rounded if that is faster.
struct Precisions {
  bool float16 = false, bfloat16 = false;
  bool operator==(const Precisions&) const = default;
};

/// The storage of a value while a context runs.
enum class Storage : uint8_t {
  kUnused,    ///< nothing refers to it
  kArena,     ///< in the context's arena, from `offset`
  kConstant,  ///< in constant `slot`
  kInput,     ///< in the tensor fed as input `slot`, from `offset`
  kOutput,    ///< in the memory given for output `slot`, from `offset`
  kTensor,    ///< in a separate tensor (or container), created when the step runs: its shape (or its type's
              ///< size) is not known before
};

/// A value of the lowered network. One ONNX value may have several, in different layouts.
struct PlanValue {
  std::string name;
  DType dtype = DType::kUndefined;
  bool has_shape = false;
  Shape shape;
  Layout layout;
  Storage storage = Storage::kUnused;
  int32_t slot = -1;
  int64_t offset = 0;

  size_t bytes() const { return has_shape && bit_width(dtype) != 0 ? layout_bytes(dtype, shape, layout) : 0; }
};

struct PlanConstant {
  /// The packing of a constant that is passed as the model's own bytes, at any address.
  static constexpr const char* kAsBytes = "bytes";

  std::string name;
  Tensor tensor;  ///< packed weights: uint8
  /// The packing of the named constant into these bytes; empty: unchanged.
  std::string packing;

  /// True when it takes memory in addition to the model's.
  bool is_packed() const { return !packing.empty() && packing != kAsBytes; }
};

/// A tactic that precedes the chosen one and the reason why it was not used.
struct Refusal {
  std::string tactic;
  std::string reason;
};

/// One kernel call.
struct Step {
  std::string tactic;
  std::string variant;                   ///< variant of the tactic
  std::vector<int32_t> inputs, outputs;  ///< values; -1 for omitted ones
  Parameters parameters;
  int64_t scratch_bytes = 0;   ///< memory that the kernel needs only while it runs
  int64_t scratch_offset = 0;  ///< its offset in the arena
  /// Pairs (output, input) of positions. Before memory is planned: outputs that may reuse the memory of an
  /// input whose last use is here. After it: those that do.
  std::vector<std::pair<int32_t, int32_t>> in_place;
  /// An input that the step copies byte by byte into output
  /// 0, from `offset` on. `done`: it is already there.
  struct Placement {
    int32_t input = 0;
    int64_t offset = 0;
    bool done = false;
  };
  std::vector<Placement> placements;
  std::vector<std::string> origins;  ///< names of the ONNX nodes that it implements
  /// Its computation type: that of the factors of its products, else of its elements; kUndefined: it only
  /// converts between layouts or types.
  DType computes = DType::kUndefined;
  /// The reason for that type, if others were allowed: "held in float32".
  std::string why;
  std::vector<Refusal> refusals;
  /// Indices of the plan's networks: the node run by the reference evaluator; bodies of control flow; parts
  /// that wait for shapes.
  std::vector<int32_t> networks;
};

struct Plan;

/// The ONNX nodes that a step implements, "conv1 + relu1"; its tactic when there are none.
std::string step_name(const Step& step);
/// "dnnl_conv:blocked8".
std::string tactic_text(const Step& step);
/// "float16", or "float32 (held in float32)" with the
/// reason; empty for steps that only convert formats.
std::string computes_text(const Step& step);

/// A network embedded in a step. At least one of both is present.
struct PlanNetwork {
  std::shared_ptr<const Model> model;
  /// The prepared plan, if the shapes of its inputs are known.
  std::shared_ptr<const Plan> plan;
};

struct Plan {
  std::vector<PlanValue> values;
  std::vector<PlanConstant> constants;
  std::vector<Step> steps;
  std::vector<PlanNetwork> networks;
  std::vector<int32_t> inputs, outputs;  ///< values, in the order of the model's inputs and outputs
  int64_t arena_bytes = 0;
  int threads = 1;
};

/// The key of a plan: the shapes of the network's inputs,
/// and the elements of those that determine shapes.
struct PlanKey {
  std::vector<Shape> shapes;  ///< those of containers are empty
  std::vector<std::pair<size_t, Tensor>> values;

  size_t hash_of_shapes() const;
  bool has_shapes(std::span<const Tensor> inputs) const;
  bool matches(std::span<const Tensor> inputs) const;
};

/// The hash of a key with the shapes of these inputs.
size_t hash_of_shapes(std::span<const Tensor> inputs);

}  // namespace assay::engine
