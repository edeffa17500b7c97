// What the builder decides and the runtime carries out: values with their places in memory, constants, and
// steps in order. Plain data: it can be printed, and written to a file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "assay/tensor.h"
#include "engine/plan/parameters.h"

namespace assay::engine {

/// How the elements of a value lie in memory.
struct Layout {
  /// 0: row-major. kAllChannels: axis 1 is the innermost dimension, [N, spatial..., C]. Else axis 1 is cut
  /// into blocks of so many channels and the place inside the block is the innermost dimension:
  /// [N, ceil(C / block), spatial..., block]. Channels that fill up the last block are 0.
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

/// How a value is stored: its layout, and its element type where that is not its own.
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
/// True when both layouts put every element of the shape at the same place.
bool same_memory(const Shape& shape, Layout a, Layout b);

/// Types that float32 numbers may be rounded to where that is faster.
struct Precisions {
  bool float16 = false, bfloat16 = false;
  bool operator==(const Precisions&) const = default;
};

/// Where the bytes of a value are while a context runs.
enum class Storage : uint8_t {
  kUnused,    ///< nothing refers to it
  kArena,     ///< in the context's arena, from `offset`
  kConstant,  ///< in constant `slot`
  kInput,     ///< in the tensor fed as input `slot`, from `offset`
  kOutput,    ///< in the memory given for output `slot`, from `offset`
  kTensor,    ///< in a tensor (or container) of its own, made when the step runs: its shape (or its type's
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
  /// The packing of a constant that is given as its bytes, which may lie at any address: the model's own.
  static constexpr const char* kAsBytes = "bytes";

  std::string name;
  Tensor tensor;  ///< packed weights: uint8
  /// How the bytes came out of the constant of that name; empty: as the model has them.
  std::string packing;

  /// It takes memory beside the model's.
  bool is_packed() const { return !packing.empty() && packing != kAsBytes; }
};

/// A tactic that was asked before the chosen one and why it could not be used.
struct Refusal {
  std::string tactic;
  std::string reason;
};

/// One kernel call.
struct Step {
  std::string tactic;
  std::string variant;                   ///< which of the tactic's ways it is
  std::vector<int32_t> inputs, outputs;  ///< values; -1 where one is left out
  Parameters parameters;
  int64_t scratch_bytes = 0;   ///< memory that the kernel needs only while it runs
  int64_t scratch_offset = 0;  ///< its place in the arena
  /// Pairs (output, input) of positions. Before memory is planned: outputs that may take the place of an
  /// input that dies here. After it: those that do.
  std::vector<std::pair<int32_t, int32_t>> in_place;
  /// An input that the step copies byte by byte into output 0, from `offset` on. `done`: it lies there
  /// already.
  struct Placement {
    int32_t input = 0;
    int64_t offset = 0;
    bool done = false;
  };
  std::vector<Placement> placements;
  std::vector<std::string> origins;  ///< names of the ONNX nodes that it stands for
  /// What it computes in: the type of the factors of its products, else of its numbers; kUndefined: it
  /// only brings numbers from one layout or type into another.
  DType computes = DType::kUndefined;
  /// Why that type, where others were allowed: "held in float32".
  std::string why;
  std::vector<Refusal> refusals;
  /// Of the plan's networks: the node that the plain evaluation runs; bodies of control flow; what waits for
  /// shapes.
  std::vector<int32_t> networks;
};

struct Plan;

/// The ONNX nodes that a step stands for, "conv1 + relu1"; its tactic when there are none.
std::string step_name(const Step& step);
/// "dnnl_conv:blocked8".
std::string tactic_text(const Step& step);
/// "float16", or "float32 (held in float32)" with the reason; empty for what only moves numbers between
/// formats.
std::string computes_text(const Step& step);

/// Nodes that a step carries along. One of both is there, or both.
struct PlanNetwork {
  std::shared_ptr<const Model> model;
  /// Made ready, where the shapes of its inputs are known.
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

/// What a plan was made for: the shapes of the network's inputs, and what those of them hold that decide
/// about shapes.
struct PlanKey {
  std::vector<Shape> shapes;  ///< those of containers are empty
  std::vector<std::pair<size_t, Tensor>> values;

  size_t hash_of_shapes() const;
  bool has_shapes(std::span<const Tensor> inputs) const;
  bool matches(std::span<const Tensor> inputs) const;
};

/// The same for all inputs that a key with that hash has the shapes of.
size_t hash_of_shapes(std::span<const Tensor> inputs);

}  // namespace assay::engine
