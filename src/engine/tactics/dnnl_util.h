// What the tactics on oneDNN share.
#pragma once

#include <dnnl.hpp>
#include <string_view>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"

namespace assay::engine {

const dnnl::engine& dnnl_engine();

/// The descriptor of float32 extents in a layout. Ranks 1 to 12 row-major, 3 to 5 blocked.
dnnl::memory::desc memory_desc(const Shape& shape, Layout layout);
dnnl::memory::desc memory_desc(const Plan& plan, int32_t value);
/// Any layout: oneDNN chooses.
dnnl::memory::desc any_desc(const Shape& shape);
dnnl::memory::dims to_dnnl(const std::vector<int64_t>& v);

/// How good an implementation is by its name: kernels made for the shape, products of unpacked columns, plain
/// loops.
enum class ImplementationRank : uint8_t { kTailored, kProducts, kPlain };
ImplementationRank rank_implementation(std::string_view info);

/// Brings a row-major float32 tensor into the memory format of a descriptor; the result is uint8.
Tensor pack(const Tensor& tensor, const dnnl::memory::desc& from, const dnnl::memory::desc& to);

/// A primitive with its arguments bound to a step's inputs and outputs.
class DnnlKernel final : public Kernel {
 public:
  explicit DnnlKernel(dnnl::primitive primitive) : primitive_(std::move(primitive)) {}

  /// Argument `arg` is the step's input or output of that position.
  void add_input(int arg, const dnnl::memory::desc& desc, size_t position);
  void add_output(int arg, const dnnl::memory::desc& desc, size_t position);
  /// Scratch memory, when the descriptor is not empty.
  void add_scratch(const dnnl::memory::desc& desc);

  Status run(const KernelArgs& args) noexcept override;

 private:
  enum class Role : uint8_t { kInput, kOutput, kScratch };
  struct Argument {
    dnnl::memory memory;
    Role role;
    size_t position;
    const void* place;  ///< where the memory object points now
  };
  void add(int arg, const dnnl::memory::desc& desc, Role role, size_t position);

  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> list_;
};

}  // namespace assay::engine
