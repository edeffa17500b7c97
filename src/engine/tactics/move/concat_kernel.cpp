#include "engine/tactics/move/concat_kernel.h"

#include "base/parallel.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_concat {
namespace {

class ConcatKernel final : public Kernel {
 public:
  explicit ConcatKernel(size_t width) : width_(width) {}
  void add_part(kernels::StridedCopy copy, int64_t offset, bool in_place) {
    parts_.push_back({std::move(copy), offset * static_cast<int64_t>(width_), in_place});
  }
  Status run(const KernelArgs& args) noexcept override {
    for (size_t i = 0; i < parts_.size(); ++i)
      if (!parts_[i].in_place)
        parts_[i].copy.run(args.inputs[i], static_cast<char*>(args.outputs[0]) + parts_[i].offset);
    return Status::kOk;
  }

 private:
  struct Part {
    kernels::StridedCopy copy;
    int64_t offset;
    bool in_place;
  };
  size_t width_;
  std::vector<Part> parts_;
};

/// Float32 inputs that follow each other along the innermost axis: rows of all of them make a row of the
/// result.
class RowsKernel final : public Kernel {
 public:
  RowsKernel(int64_t rows, int64_t row) : rows_(rows), row_(row) {}
  void add_part(int64_t columns, int64_t offset) { parts_.push_back({columns, offset}); }
  Status run(const KernelArgs& args) noexcept override {
    auto* const out = static_cast<float*>(args.outputs[0]);
    parallel_for((rows_ + kTogether - 1) / kTogether, std::max<int64_t>(1, kMinMoved / (row_ * kTogether)),
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) {
                     const int64_t row = i * kTogether, rows = std::min(kTogether, rows_ - row);
                     for (size_t k = 0; k < parts_.size(); ++k)
                       kernels::copy_rows(rows, parts_[k].columns,
                                          static_cast<const float*>(args.inputs[k]) + row * parts_[k].columns,
                                          parts_[k].columns, out + row * row_ + parts_[k].offset, row_);
                   }
                 });
    return Status::kOk;
  }

 private:
  struct Part {
    int64_t columns, offset;
  };
  /// Rows that stay in the first-level cache while all inputs are added, and numbers that a thread should
  /// move at least.
  static constexpr int64_t kTogether = 16, kMinMoved = 16384;
  int64_t rows_, row_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 0, StepReader::kAnyNumber, 1, StepReader::May::kPlaceInputs);
  const PlanValue& out = r.any_output(0);
  StepReader::check(bit_width(out.dtype) >= 8, "'{}' has elements of less than a byte", out.name);
  const Shape memory = memory_extents(out.shape, out.layout);
  const auto p = r.read(StepFields{.rank = out.shape.rank(), .parts = step.inputs.size(), .offsets = {}});
  const auto axis = static_cast<size_t>(p.axis);
  const size_t width = storage_bytes(out.dtype, 1);
  const size_t place = memory_axis(axis, out.shape.size(), out.layout);
  const int64_t inner = memory.numel(place + 1, memory.size());
  const std::vector<int64_t> strides = memory.strides();
  int64_t at = 0;
  std::vector<bool> placed(step.inputs.size());
  for (const Step::Placement& at : step.placements) placed[static_cast<size_t>(at.input)] = at.done;
  auto kernel = std::make_unique<ConcatKernel>(width);
  const int64_t columns = memory[place];
  const bool has_rows = inner == 1 && place > 0 && out.dtype == DType::kFloat32 && memory.numel() > 0;
  auto rows = has_rows ? std::make_unique<RowsKernel>(memory.numel(0, place), columns) : nullptr;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const PlanValue& in = r.input(i, out.dtype);
    const Shape extents = memory_extents(in.shape, in.layout);
    bool fits = in.layout == out.layout && in.shape.size() == out.shape.size() &&
                at <= memory[place] - extents[place];
    for (size_t d = 0; fits && d < in.shape.size(); ++d) fits = d == axis || in.shape[d] == out.shape[d];
    StepReader::check(fits && p.offsets[i] == at * inner, "'{}' of shape {} is not a part of {}", in.name,
                      in.shape.str(), out.shape.str());
    if (has_rows) rows->add_part(extents[place], at);
    at += extents[place];
    StepReader::check(!placed[i] || memory.numel(0, place) == 1, "'{}' does not lie in one piece", in.name);
    kernel->add_part(kernels::StridedCopy(extents, extents.strides(), strides, width), p.offsets[i],
                     placed[i]);
  }
  StepReader::check(at == memory[place] || memory.numel() == 0, "its inputs do not fill {}", out.shape.str());
  if (has_rows && std::find(placed.begin(), placed.end(), true) == placed.end()) return rows;
  return kernel;
}

}  // namespace assay::engine::tactic_concat
