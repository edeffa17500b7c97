#include "engine/tactics/dnnl/dnnl_kernel.h"

#include <fmt/format.h>
#include <omp.h>
#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/parallel.h"
#include "base/signal_stack.h"
#include "engine/runtime/arena.h"

namespace assay::engine {

using dnnl::memory;

namespace {

/// Primitives that oneDNN keeps for whoever asks for the same one again, some 30 KB each: more than a network
/// has, fewer than its 1024, so that a process that sees many shapes stays small.
constexpr int kKeptPrimitives = 256;

}  // namespace

const dnnl::engine& dnnl_engine() {
  static const auto* const engine = [] {
    dnnl::set_primitive_cache_capacity(kKeptPrimitives);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

namespace {

/// Calls run in order and at once on the thread that makes them.
const dnnl::stream& dnnl_stream() {
  static thread_local const dnnl::stream stream(dnnl_engine());
  return stream;
}

memory::format_tag last_tag(int rank) {
  using tag = memory::format_tag;
  return rank == 3 ? tag::nwc : rank == 4 ? tag::nhwc : tag::ndhwc;
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
  if (layout.is_row()) return {to_dnnl(s.dims()), memory::data_type::f32, to_dnnl(s.strides())};
  if (layout.is_channels_last() && s.rank() >= 3 && s.rank() <= 5)
    return {to_dnnl(s.dims()), memory::data_type::f32, last_tag(s.rank())};
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

std::string format_text(const memory::desc& desc) {
  const dnnl_memory_desc_t& d = desc.data;
  const auto list = [](const dnnl_dim_t* values, int count) {
    return fmt::format("{}", fmt::join(values, values + count, ","));
  };
  std::string text = fmt::format("type {} [{}] padded [{}]", static_cast<int>(d.data_type),
                                 list(d.dims, d.ndims), list(d.padded_dims, d.ndims));
  if (d.format_kind == dnnl_blocked) {
    const dnnl_blocking_desc_t& b = d.format_desc.blocking;
    text += fmt::format(" strides [{}] blocks [{}] of [{}]", list(b.strides, d.ndims),
                        list(b.inner_blks, b.inner_nblks), list(b.inner_idxs, b.inner_nblks));
  } else {
    // A format of the library's own, of which only the bytes of its description are known.
    text += fmt::format(" kind {} ", static_cast<int>(d.format_kind));
    const auto* bytes = reinterpret_cast<const unsigned char*>(&d.format_desc);
    for (size_t i = 0; i < sizeof d.format_desc; ++i) text += fmt::format("{:02x}", bytes[i]);
  }
  if (d.extra.flags != 0)
    text += fmt::format(" extra {} {} {}", d.extra.flags, d.extra.compensation_mask, d.extra.scale_adjust);
  return text;
}

ImplementationRank rank_implementation(std::string_view info) {
  if (info.find("ref") != std::string_view::npos) return ImplementationRank::kPlain;
  return info.find("gemm:") != std::string_view::npos ? ImplementationRank::kProducts
                                                      : ImplementationRank::kTailored;
}

void pack(const Tensor& tensor, const memory::desc& from, const memory::desc& to, void* target) {
  memory source(from, dnnl_engine(), const_cast<void*>(tensor.data()));
  memory packed(to, dnnl_engine(), target);
  const OneThread alone;
  dnnl::stream stream(dnnl_engine());
  dnnl::reorder(source, packed).execute(stream, source, packed);
}

OneThread::OneThread() : outer_(::omp_get_max_threads()) {
  use_signal_stack();
  if (outer_ != 1) ::omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (outer_ != 1) ::omp_set_num_threads(outer_);
}

Box whole_box(const Shape& shape) { return {Shape(std::vector<int64_t>(shape.size(), 0)), shape}; }

namespace {

/// True when the elements of a part lie next to each other, in order.
bool is_contiguous(const Shape& shape, const Box& part) {
  size_t d = 0;
  while (d < shape.size() && part.size[d] == 1) ++d;
  for (++d; d < shape.size(); ++d)
    if (part.size[d] != shape[d]) return false;
  return true;
}

}  // namespace

std::vector<int64_t> bounds_of(int64_t count, int64_t parts, int64_t unit) {
  const int64_t units = (count + unit - 1) / unit,
                n = std::clamp<int64_t>(parts, 1, std::max<int64_t>(units, 1));
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i <= n; ++i) bounds.push_back(std::min(count, units * i / n * unit));
  return bounds;
}

memory::desc part_desc(const Shape& shape, Layout layout, const Box& part) {
  if (!layout.is_row() || is_contiguous(shape, part)) return memory_desc(part.size, layout);
  return {to_dnnl(part.size.dims()), memory::data_type::f32, to_dnnl(shape.strides())};
}

int64_t part_offset(const Shape& shape, Layout layout, const Box& part) {
  if (layout.is_channels_last()) {
    int64_t pixel = part.begin[0];
    for (size_t d = 2; d < shape.size(); ++d) pixel = pixel * shape[d] + part.begin[d];
    return pixel * shape[1] + part.begin[1];
  }
  if (!layout.is_blocked()) {
    const std::vector<int64_t> strides = shape.strides();
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) offset += part.begin[d] * strides[d];
    return offset;
  }
  const int64_t inner = shape.numel(2, shape.size()) * layout.block,
                blocks = (shape[1] + layout.block - 1) / layout.block;
  return (part.begin[0] * blocks + part.begin[1] / layout.block) * inner;
}

namespace {

/// Images, or ranges of an image along an axis, `most` of one image.
std::vector<Box> parts_along(size_t axis, const Shape& result, int64_t parts, int64_t unit, int64_t most) {
  std::vector<Box> boxes;
  const std::vector<int64_t> images = bounds_of(result[0], parts, 1);
  for (size_t i = 0; i + 1 < images.size(); ++i) {
    Box box = whole_box(result);
    box.begin[0] = images[i];
    box.size[0] = images[i + 1] - images[i];
    const int64_t shares = box.size[0] == 1 ? std::min(parts / result[0], most) : 1;
    const std::vector<int64_t> ranges = bounds_of(result[axis], shares, unit);
    for (size_t k = 0; k + 1 < ranges.size(); ++k) {
      box.begin[axis] = ranges[k];
      box.size[axis] = ranges[k + 1] - ranges[k];
      boxes.push_back(box);
    }
  }
  return boxes;
}

}  // namespace

std::vector<Box> channel_parts(const Shape& result, Layout layout, int64_t parts, int64_t unit) {
  if (layout.is_blocked()) unit = std::lcm(unit, int64_t{layout.block});
  return parts_along(1, result, parts, unit, parts);
}

std::vector<Box> row_parts(const Shape& result, int64_t parts) {
  // Fewer pixels take as long: all weights are read for them.
  constexpr int64_t kFewestPixels = 4;
  return parts_along(2, result, parts, 1, result.numel() / result[0] / result[1] / kFewestPixels);
}

size_t check_images(const Shape& in, const Shape& out) {
  StepReader::check(in.size() == out.size() && in.rank() >= 3 && in.rank() <= 5 && in[0] == out[0] &&
                        in.numel() > 0 && out.numel() > 0,
                    "it makes images {} of images {}", out.str(), in.str());
  return in.size();
}

void check_window_weights(const StepReader& r, const Shape& weights, size_t rank, int64_t groups,
                          int64_t outputs, int64_t inputs) {
  Shape one = weights;
  if (one.size() == rank + 1) one.erase_at(0);
  bool fits = groups >= 1 && outputs % groups == 0 && inputs % groups == 0 && one.size() == rank &&
              one[0] == outputs / groups && one[1] == inputs / groups;
  for (size_t d = 2; fits && d < rank; ++d) fits = one[d] >= 1 && one[d] <= kMaxOfWindow;
  StepReader::check(fits, "weights {} are not for {} groups, {} channels in and {} out", weights.str(),
                    groups, inputs, outputs);
  int64_t bytes = sizeof(float);
  for (const int64_t extent : weights) bytes = r.product({bytes, extent});
  StepReader::check(bytes <= static_cast<int64_t>(r.row_input(1, DType::kUInt8).bytes()),
                    "the packed weights are fewer than {} says", weights.str());
}

int64_t scratch_bytes(const memory::desc& desc) { return static_cast<int64_t>(align_up(desc.get_size())); }

void DnnlKernel::add_primitive(dnnl::primitive primitive) {
  calls_.push_back({std::move(primitive), {}, {}});
}

void DnnlKernel::add(int arg, const memory::desc& desc, Role role, size_t position, int64_t offset) {
  Call& call = calls_.back();
  call.arguments.push_back({memory(desc, dnnl_engine(), nullptr), role, position, offset, nullptr});
  call.list.push_back({arg, call.arguments.back().memory.get()});
}

void DnnlKernel::add_input(int arg, const memory::desc& desc, size_t position, int64_t offset) {
  add(arg, desc, Role::kInput, position, offset);
}

void DnnlKernel::add_output(int arg, const memory::desc& desc, size_t position, int64_t offset) {
  add(arg, desc, Role::kOutput, position, offset);
}

void DnnlKernel::add_scratch(const memory::desc& desc) {
  if (desc.get_size() == 0) return;
  add(DNNL_ARG_SCRATCHPAD, desc, Role::kScratch, 0, scratch_);
  scratch_ += scratch_bytes(desc);
}

bool DnnlKernel::execute(Call& call, const KernelArgs& args) noexcept {
  for (Argument& a : call.arguments) {
    const void* base = a.role == Role::kInput    ? args.inputs[a.position]
                       : a.role == Role::kOutput ? args.outputs[a.position]
                                                 : args.scratch;
    const void* place = static_cast<const char*>(base) + a.offset;
    if (place == a.place) continue;
    if (dnnl_memory_set_data_handle(a.memory.get(), const_cast<void*>(place)) != dnnl_success) return false;
    a.place = place;
  }
  const OneThread alone;
  return dnnl_primitive_execute(call.primitive.get(), dnnl_stream().get(), static_cast<int>(call.list.size()),
                                call.list.data()) == dnnl_success;
}

Status DnnlKernel::run(const KernelArgs& args) noexcept {
  std::atomic<bool> done{true};
  parallel_for(static_cast<int64_t>(calls_.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      if (!execute(calls_[static_cast<size_t>(i)], args)) done = false;
  });
  return done ? Status::kOk : Status::kKernelFailed;
}

}  // namespace assay::engine
