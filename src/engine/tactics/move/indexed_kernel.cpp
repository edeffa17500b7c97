#include "engine/tactics/move/indexed_kernel.h"

#include "base/parallel.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_indexed {
namespace {

/// The data may be written over where nothing else that is read lies there.
void check_place(const StepReader& r) {
  r.check_in_place(0);
  const std::vector<int32_t>& inputs = r.step().inputs;
  StepReader::check(r.step().in_place.empty() || (inputs[0] != inputs[1] && inputs[0] != inputs[2]),
                    "it cannot write over what it reads");
}

/// What is scattered into: a copy of the data, unless it lies in its place already.
void place_data(const KernelArgs& args, size_t bytes) {
  if (args.inputs[0] == args.outputs[0]) return;
  parallel_for(static_cast<int64_t>(bytes), 65536, [&](int64_t first, int64_t last) {
    std::memcpy(static_cast<char*>(args.outputs[0]) + first, static_cast<const char*>(args.inputs[0]) + first,
                static_cast<size_t>(last - first));
  });
}

StepFields read_fields(const StepReader& r) {
  return r.read(StepFields{.scatters = r.step().inputs.size() == 3, .rank = r.raw_input(0).shape.rank()});
}

void check_reduction(ScatterReduction reduction, DType dtype) {
  StepReader::check(reduction == ScatterReduction::kNone || kernels::is_combined(dtype), "{} is not combined",
                    dtype_name(dtype));
}

template <typename Index>
class ElementsKernel final : public ComplainingKernel {
 public:
  ElementsKernel(const StepReader& r, const StepFields& p) : scatters_(p.scatters) {
    const PlanValue &data = r.raw_input(0), &index = r.raw_input(1);
    const PlanValue& out = r.row_output(0, data.dtype);
    walk_ = {data.shape, index.shape, static_cast<size_t>(*p.axis)};
    bool fits = data.shape.rank() >= 1 && index.shape.rank() == data.shape.rank() &&
                out.shape == (scatters_ ? data.shape : index.shape);
    for (size_t d = 0; fits && d < data.shape.size(); ++d)
      fits = d == walk_.axis || index.shape[d] <= data.shape[d];
    if (scatters_) fits = fits && r.row_input(2, data.dtype).shape == index.shape;
    StepReader::check(fits, "indices of shape {} do not fit {} and {}", index.shape.str(), data.shape.str(),
                      out.shape.str());
    width_ = storage_bytes(data.dtype, 1);
    bytes_ = data.bytes();
    type_ = data.dtype;
    if (!scatters_) return;
    reduction_ = p.reduction;
    check_reduction(reduction_, data.dtype);
    check_place(r);
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto* index = static_cast<const Index*>(args.inputs[1]);
    if (!scatters_)
      return kernels::gather_elements(walk_, args.inputs[0], index, args.outputs[0], width_)
                 ? Status::kOk
                 : Status::kBadIndex;
    place_data(args, bytes_);
    return kernels::scatter_elements(walk_, args.outputs[0], index, args.inputs[2], width_, type_, reduction_)
               ? Status::kOk
               : Status::kBadIndex;
  }
  std::string complaint(const KernelArgs& args) const override {
    return index_complaint<Index>(args.inputs[1], walk_.index.numel(), walk_.data[walk_.axis], walk_.axis);
  }

 private:
  bool scatters_;
  kernels::ElementWalk walk_;
  size_t width_ = 0, bytes_ = 0;
  DType type_ = DType::kUndefined;
  ScatterReduction reduction_ = ScatterReduction::kNone;
};

class SlicesKernel final : public ComplainingKernel {
 public:
  SlicesKernel(const StepReader& r, const StepFields& p) : scatters_(p.scatters) {
    const PlanValue &data = r.raw_input(0), &index = r.input(1, DType::kInt64);
    const PlanValue& out = r.row_output(0, data.dtype);
    const auto batch_dims = static_cast<size_t>(p.batch_dims);
    batch_dims_ = batch_dims;
    const size_t rank = data.shape.size(), index_rank = index.shape.size();
    StepReader::check(index_rank > batch_dims && rank > batch_dims, "{} axes of batches in {} and {}",
                      batch_dims, data.shape.str(), index.shape.str());
    const int64_t width = index.shape[index_rank - 1];
    StepReader::check(width >= 0 && width <= static_cast<int64_t>(rank - batch_dims),
                      "index tuples of {} for {}", width, data.shape.str());
    const size_t slices_from = batch_dims + static_cast<size_t>(width);
    walk_ = {.batches = data.shape.numel(0, batch_dims),
             .tuples = index.shape.numel(batch_dims, index_rank - 1),
             .slice = data.shape.numel(slices_from, rank),
             .extents = Shape(
                 std::vector<int64_t>(data.shape.dims().begin() + static_cast<std::ptrdiff_t>(batch_dims),
                                      data.shape.dims().begin() + static_cast<std::ptrdiff_t>(slices_from)))};
    const int64_t moved = r.product({walk_.batches, walk_.tuples, walk_.slice});
    StepReader::check(
        index.shape.numel(0, batch_dims) == walk_.batches &&
            (scatters_ ? r.row_input(2, data.dtype).shape.numel() == moved && out.shape == data.shape
                       : out.shape.numel() == moved),
        "index tuples of shape {} do not fit {} and {}", index.shape.str(), data.shape.str(),
        out.shape.str());
    width_ = storage_bytes(data.dtype, 1);
    bytes_ = data.bytes();
    type_ = data.dtype;
    if (!scatters_) return;
    reduction_ = p.reduction;
    check_reduction(reduction_, data.dtype);
    check_place(r);
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto* index = static_cast<const int64_t*>(args.inputs[1]);
    if (!scatters_)
      return kernels::gather_slices(walk_, args.inputs[0], index, args.outputs[0], width_)
                 ? Status::kOk
                 : Status::kBadIndex;
    place_data(args, bytes_);
    return kernels::scatter_slices(walk_, args.outputs[0], index, args.inputs[2], width_, type_, reduction_)
               ? Status::kOk
               : Status::kBadIndex;
  }
  std::string complaint(const KernelArgs& args) const override {
    const auto* index = static_cast<const int64_t*>(args.inputs[1]);
    const size_t width = walk_.extents.size();
    for (int64_t tuple = 0; tuple < walk_.batches * walk_.tuples; ++tuple)
      for (size_t i = 0; i < width; ++i, ++index)
        if (std::string text = index_complaint<int64_t>(index, 1, walk_.extents[i], batch_dims_ + i);
            !text.empty())
          return text;
    return {};
  }

 private:
  bool scatters_;
  size_t batch_dims_ = 0;
  kernels::SliceWalk walk_;
  size_t width_ = 0, bytes_ = 0;
  DType type_ = DType::kUndefined;
  ScatterReduction reduction_ = ScatterReduction::kNone;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 2, 3, 1, StepReader::May::kComputeInPlace);
  const StepFields p = read_fields(r);
  if (!p.axis) return std::make_unique<SlicesKernel>(r, p);
  if (r.raw_input(1).dtype == DType::kInt32) return std::make_unique<ElementsKernel<int32_t>>(r, p);
  r.input(1, DType::kInt64);
  return std::make_unique<ElementsKernel<int64_t>>(r, p);
}

}  // namespace assay::engine::tactic_indexed
