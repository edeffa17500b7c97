// Concatenation. Inputs that the planner could place inside the result are there already; the others are
// copied.
#include "kernels/copy/strided_copy.h"

#include <algorithm>

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_concat {
namespace {

constexpr std::string_view kOperators[] = {"Concat"};

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
  b.step.parameters.set("axis", static_cast<int64_t>(axis));
  b.step.parameters.set("offsets", offsets);
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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 0, StepReader::kAnyNumber, 1, StepReader::May::kPlaceInputs);
  const PlanValue& out = r.any_output(0);
  StepReader::check(bit_width(out.dtype) >= 8, "'{}' has elements of less than a byte", out.name);
  const Shape memory = memory_extents(out.shape, out.layout);
  const auto axis = static_cast<size_t>(r.number("axis", 0, out.shape.rank() - 1));
  const auto& offsets = r.numbers("offsets", step.inputs.size());
  const size_t width = storage_bytes(out.dtype, 1);
  const size_t place = memory_axis(axis, out.shape.size(), out.layout);
  const int64_t inner = memory.numel(place + 1, memory.size());
  const std::vector<int64_t> strides = memory.strides();
  int64_t at = 0;
  std::vector<bool> placed(step.inputs.size());
  for (const Step::Placement& p : step.placements) placed[static_cast<size_t>(p.input)] = p.done;
  auto kernel = std::make_unique<ConcatKernel>(width);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const PlanValue& in = r.input(i, out.dtype);
    const Shape extents = memory_extents(in.shape, in.layout);
    bool fits = in.layout == out.layout && in.shape.size() == out.shape.size() &&
                at <= memory[place] - extents[place];
    for (size_t d = 0; fits && d < in.shape.size(); ++d) fits = d == axis || in.shape[d] == out.shape[d];
    StepReader::check(fits && offsets[i] == at * inner, "'{}' of shape {} is not a part of {}", in.name,
                      in.shape.str(), out.shape.str());
    at += extents[place];
    StepReader::check(!placed[i] || memory.numel(0, place) == 1, "'{}' does not lie in one piece", in.name);
    kernel->add_part(kernels::StridedCopy(extents, extents.strides(), strides, width), offsets[i], placed[i]);
  }
  StepReader::check(at == memory[place] || memory.numel() == 0, "its inputs do not fill {}", out.shape.str());
  return kernel;
}

}  // namespace

constinit const TacticDef def = {
    .name = "concat",
    .summary = "inputs side by side; those that can be written in place are",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_concat
