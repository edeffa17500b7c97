// Concatenation. Inputs that the planner could place inside the result are there already; the others are
// copied.
#include "kernels/copy/copy_rows.h"
#include "kernels/copy/strided_copy.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_concat {
namespace {

constexpr std::string_view kOperators[] = {"Concat"};

struct StepFields {
  int64_t rank = 0;
  size_t parts = 0;
  int64_t axis = 0;
  std::vector<int64_t> offsets;  ///< where each part begins along the memory of the result, in elements

  void fields(FieldVisitor& visit) {
    visit("axis", axis, {0, rank - 1});
    visit("offsets", offsets, parts);
  }
};

std::string supports(const Problem& p) {
  const Shape* out = p.output_shape(0);
  if (out == nullptr) return "the shape is not known before the run";
  if (bit_width(p.output_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.input_shape(i) == nullptr) return "the shape of an input is not known before the run";
  return {};
}

/// Every part must begin and end with a block of channels.
bool fits_blocks(const Problem& p, size_t axis, Layout layout) {
  for (size_t i = 0; i + 1 < p.input_count() && axis == 1; ++i)
    if ((*p.input_shape(i))[1] % layout.block != 0) return false;
  return true;
}

/// Extents in memory order.
Shape memory_extents(const Shape& shape, Layout layout) {
  if (layout.is_row()) return shape;
  Shape s = shape;
  if (layout.is_channels_last()) {
    s.erase_at(1);
    s.push_back(shape[1]);
    return s;
  }
  s[1] = (shape[1] + layout.block - 1) / layout.block;
  s.push_back(layout.block);
  return s;
}

/// Where an axis lies among the extents in memory order.
size_t memory_axis(size_t axis, size_t rank, Layout layout) {
  if (!layout.is_channels_last() || axis == 0) return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

void add_candidate(const Problem& p, size_t axis, Layout layout, Proposals& proposals) {
  const Shape& out = *p.output_shape(0);
  Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
  const Shape memory = memory_extents(out, layout);
  const size_t place = memory_axis(axis, out.size(), layout);
  const auto width = static_cast<int64_t>(storage_bytes(p.output_dtype(0), 1));
  const int64_t inner = memory.numel(place + 1, memory.size());
  std::vector<int64_t> offsets;
  int64_t at = 0;
  size_t inputs = 0;
  for (size_t i = 0; i < p.input_count(); ++i) {
    const int64_t extent = memory_extents(*p.input_shape(i), layout)[place];
    if (p.input_shape(i)->numel() == 0) continue;
    b.add_input(p.node().input(i), layout);
    offsets.push_back(at * inner);
    if (memory.numel(0, place) == 1)
      b.step.placements.push_back({.input = static_cast<int32_t>(inputs), .offset = at * inner * width});
    ++inputs;
    at += extent;
  }
  b.add_output(p.node().output(0), layout);
  b.write(StepFields{.axis = static_cast<int64_t>(axis), .offsets = offsets});
  // What can be computed in place costs nothing.
  const double moved = b.step.placements.empty() ? 2.0 * static_cast<double>(out.numel() * width) : 0;
  b.estimate = estimate_seconds(0, moved, 1);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Shape& out = *p.output_shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(p.attributes().attr_int("axis"), out.rank()));
  for (const Layout layout : p.layouts(p.output_dtype(0), out))
    if (!layout.is_blocked() || fits_blocks(p, axis, layout)) add_candidate(p, axis, layout, proposals);
  return {};
}

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

}  // namespace

constinit const TacticDef def = {
    .name = "concat",
    .summary = "inputs side by side; those that can be written in place are",
    .version = 2,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_concat
