// Shared parts of the tactics on oneDNN.
#pragma once

#include <dnnl.hpp>
#include <string_view>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine {

const dnnl::engine& dnnl_engine();

/// The descriptor of float32 extents in a layout. Ranks 1 to 12 row-major, 3 to 5 others.
dnnl::memory::desc memory_desc(const Shape& shape, Layout layout);

dnnl::memory::desc memory_desc(const Plan& plan, int32_t value);

/// Any layout: oneDNN chooses.
dnnl::memory::desc any_desc(const Shape& shape);

dnnl::memory::dims to_dnnl(const std::vector<int64_t>& v);

/// A memory format in full: extents, padded extents, strides, inner blocks; equal texts mean equal memory.
std::string format_text(const dnnl::memory::desc& desc);

/// The quality of an implementation by its name: kernels for the shape, products of unpacked columns, plain
/// loops.
enum class ImplementationRank : uint8_t { kTailored, kProducts, kPlain };

ImplementationRank rank_implementation(std::string_view info);

/// Reorders a float32 tensor, whose memory `from` describes, to the memory format `to` at `target`.
void pack(const Tensor& tensor, const dnnl::memory::desc& from, const dnnl::memory::desc& to, void* target);

/// For its lifetime oneDNN uses only this thread: descriptors are made for one thread, and primitives
/// wake no others. The engine's own threads share the work (see Box), so that no second team of threads
/// competes with them for the processors.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int outer_;
};

/// A part of a tensor: elements begin[d] <= i < begin[d] + size[d] on every axis.
struct Box {
  Shape begin, size;
  bool operator==(const Box&) const = default;
};

Box whole_box(const Shape& shape);

/// The descriptor of a part of a float32 tensor in its memory. Of a blocked tensor only contiguous parts can
/// be described: images, or whole blocks of channels of one image; with channels last images, or
/// rows of one image.
dnnl::memory::desc part_desc(const Shape& shape, Layout layout, const Box& part);

/// Where the part begins, in elements from the start of the tensor's memory.
int64_t part_offset(const Shape& shape, Layout layout, const Box& part);

/// Bounds of at most `parts` ranges of [0, count), alike in size and beginning at multiples of `unit`: one
/// more than there are ranges.
std::vector<int64_t> bounds_of(int64_t count, int64_t parts, int64_t unit);

/// At most `parts` parts of a result [N, C, ...], alike in size: images, or where there are fewer of them
/// than parts, ranges of channels of an image, which begin at multiples of `unit` (in a blocked layout of its
/// block, too).
std::vector<Box> channel_parts(const Shape& result, Layout layout, int64_t parts, int64_t unit = 1);

/// The same for a result with channels last: images, or ranges of an image's rows (extents along axis 2), of
/// four pixels or more.
std::vector<Box> row_parts(const Shape& result, int64_t parts);

/// The rank of two images [N, C, spatial...] that are as many, not empty, and of one to three spatial axes.
/// Throws Error (kInvalidModel) for others.
size_t check_images(const Shape& in, const Shape& out);

/// Throws Error (kInvalidModel) unless weights are [outputs, inputs, kernel...] of one group, behind the
/// number of groups where there are several, for this many channels in all, and step input 1 may hold them;
/// `rank` is that of the images.
void check_window_weights(const StepReader& r, const Shape& weights, size_t rank, int64_t groups,
                          int64_t outputs, int64_t inputs);

/// Primitives that carry out a step together, each on a thread of its own, with their arguments bound to the
/// step's inputs and outputs.
class DnnlKernel final : public Kernel {
 public:
  /// Begins this primitive.
  void add_primitive(dnnl::primitive primitive);
  /// Argument `arg` is the step's input or output of that position, from `offset` (in bytes) on.
  void add_input(int arg, const dnnl::memory::desc& desc, size_t position, int64_t offset = 0);
  void add_output(int arg, const dnnl::memory::desc& desc, size_t position, int64_t offset = 0);
  /// Scratch memory, when the descriptor is not empty, behind that of the primitives before it.
  void add_scratch(const dnnl::memory::desc& desc);

  /// The total scratch memory of its primitives.
  int64_t scratch() const { return scratch_; }

  Status run(const KernelArgs& args) noexcept override;

 private:
  enum class Role : uint8_t { kInput, kOutput, kScratch };
  struct Argument {
    dnnl::memory memory;
    Role role;
    size_t position;
    int64_t offset;
    const void* place;  ///< current address of the memory object
  };
  struct Call {
    dnnl::primitive primitive;
    std::vector<Argument> arguments;
    std::vector<dnnl_exec_arg_t> list;
  };
  void add(int arg, const dnnl::memory::desc& desc, Role role, size_t position, int64_t offset);
  static bool execute(Call& call, const KernelArgs& args) noexcept;

  std::vector<Call> calls_;
  int64_t scratch_ = 0;
};

/// The factory of a tactic that makes its kernels with `Create`: what oneDNN refuses is an Error, too.
template <std::unique_ptr<Kernel> (*Create)(const Plan&, const Step&)>
std::unique_ptr<Kernel> dnnl_kernel(const Plan& plan, const Step& step) {
  try {
    return Create(plan, step);
  } catch (const dnnl::error& e) {
    fail(ErrorCode::kInvalidModel, "the plan is wrong: oneDNN has no such kernel ({})", e.what());
  }
}

/// Bytes that add_scratch needs per descriptor.
int64_t scratch_bytes(const dnnl::memory::desc& desc);

/// A window in oneDNN's convention: dilations minus one, and trailing padding, which may be negative.
struct DnnlWindowFields {
  size_t axes = 0;
  std::vector<int64_t> strides = {}, dilations = {}, begin = {}, end = {};

  void fields(FieldVisitor& visit) {
    visit("strides", strides, axes, {1, kMaxOfWindow});
    visit("dilations", dilations, axes, {0, kMaxOfWindow});
    visit("pads_begin", begin, axes, {0, kMaxOfWindow});
    visit("pads_end", end, axes, {-kMaxOfWindow, kMaxOfWindow});
  }
};

/// The division of a step, and the proposed implementation of oneDNN, for reports.
struct DnnlFields {
  int64_t threads = 1;
  std::string implementation = {};

  void fields(FieldVisitor& visit) {
    visit("threads", threads, {1, kMaxThreads});
    visit("implementation", implementation);
  }
};

/// The kernel of such a step; `source(part)` is
/// the part of the input for a part of the result.
template <typename Primitive, typename Source, typename Describe>
std::unique_ptr<Kernel> make_image_kernel(const StepReader& r, const std::vector<Box>& parts, Source source,
                                          Describe describe) {
  const PlanValue &in = r.input(0), &out = r.output(0);
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  auto kernel = std::make_unique<DnnlKernel>();
  for (const Box& part : parts) {
    const auto pd = describe(out.layout, part);
    kernel->add_primitive(Primitive(pd));
    kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0,
                      part_offset(in.shape, in.layout, source(part)) * kWidth);
    kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(out.shape, out.layout, part) * kWidth);
    kernel->add_scratch(pd.scratchpad_desc());
  }
  r.check_scratch(kernel->scratch());
  return kernel;
}

}  // namespace assay::engine
