#include "engine/tactics/dnnl_util.h"

namespace assay::engine {

using dnnl::memory;

const dnnl::engine& dnnl_engine() {
  static const auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

namespace {

/// Calls on one CPU run in order and at once, so one stream serves every context.
const dnnl::stream& dnnl_stream() {
  static const auto* const stream = new dnnl::stream(dnnl_engine());
  return *stream;
}

memory::format_tag blocked_tag(int rank, int32_t block) {
  using tag = memory::format_tag;
  if (rank == 3) return block == 16 ? tag::nCw16c : tag::nCw8c;
  if (rank == 4) return block == 16 ? tag::nChw16c : tag::nChw8c;
  return block == 16 ? tag::nCdhw16c : tag::nCdhw8c;
}

}  // namespace

memory::dims to_dnnl(const std::vector<int64_t>& v) { return {v.begin(), v.end()}; }

memory::desc memory_desc(const Shape& shape, Layout layout) {
  const Shape s = shape.empty() ? Shape{1} : shape;
  if (!layout.is_blocked()) return {to_dnnl(s.dims()), memory::data_type::f32, to_dnnl(s.strides())};
  require((layout.block == 8 || layout.block == 16) && s.rank() >= 3 && s.rank() <= 5, ErrorCode::kInternal,
          "no blocked layout of {} for rank {}", layout.block, s.rank());
  return {to_dnnl(s.dims()), memory::data_type::f32, blocked_tag(s.rank(), layout.block)};
}

memory::desc memory_desc(const Plan& plan, int32_t value) {
  const PlanValue& v = plan.values[static_cast<size_t>(value)];
  return memory_desc(v.shape, v.layout);
}

memory::desc any_desc(const Shape& shape) {
  return {to_dnnl(shape.dims()), memory::data_type::f32, memory::format_tag::any};
}

ImplementationRank rank_implementation(std::string_view info) {
  if (info.find("ref") != std::string_view::npos) return ImplementationRank::kPlain;
  return info.find("gemm:") != std::string_view::npos ? ImplementationRank::kProducts
                                                      : ImplementationRank::kTailored;
}

Tensor pack(const Tensor& tensor, const memory::desc& from, const memory::desc& to) {
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{static_cast<int64_t>(to.get_size())});
  memory source(from, dnnl_engine(), const_cast<void*>(tensor.data()));
  memory target(to, dnnl_engine(), packed.mutable_data());
  dnnl::stream stream(dnnl_engine());
  dnnl::reorder(source, target).execute(stream, source, target);
  return packed;
}

void DnnlKernel::add(int arg, const memory::desc& desc, Role role, size_t position) {
  arguments_.push_back({memory(desc, dnnl_engine(), nullptr), role, position, nullptr});
  list_.push_back({arg, arguments_.back().memory.get()});
}

void DnnlKernel::add_input(int arg, const memory::desc& desc, size_t position) {
  add(arg, desc, Role::kInput, position);
}
void DnnlKernel::add_output(int arg, const memory::desc& desc, size_t position) {
  add(arg, desc, Role::kOutput, position);
}
void DnnlKernel::add_scratch(const memory::desc& desc) {
  if (desc.get_size() > 0) add(DNNL_ARG_SCRATCHPAD, desc, Role::kScratch, 0);
}

Status DnnlKernel::run(const KernelArgs& args) noexcept {
  for (Argument& a : arguments_) {
    const void* place = a.role == Role::kInput    ? args.inputs[a.position]
                        : a.role == Role::kOutput ? args.outputs[a.position]
                                                  : args.scratch;
    if (place == a.place) continue;
    if (dnnl_memory_set_data_handle(a.memory.get(), const_cast<void*>(place)) != dnnl_success)
      return Status::kKernelFailed;
    a.place = place;
  }
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), dnnl_stream().get(),
                                                      static_cast<int>(list_.size()), list_.data());
  return status == dnnl_success ? Status::kOk : Status::kKernelFailed;
}

}  // namespace assay::engine
