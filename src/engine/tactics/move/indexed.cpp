// GatherElements, GatherND, ScatterElements and ScatterND: elements and slices that indices point to.
#include "kernels/copy/indexed.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/tactics/index_complaint.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_indexed {
namespace {

using kernels::ScatterReduction;
using kernels::ScatterType;

/// A list: each is computed in a way of its own below.
constexpr std::string_view kOperators[] = {"GatherElements", "GatherND", "Scatter", "ScatterElements",
                                           "ScatterND"};
constexpr std::string_view kReductions[] = {"none", "add", "mul", "min", "max"};

/// Of elements an axis, of slices a number of axes of batches; what scatters has a reduction.
struct StepFields {
  bool scatters = false;
  int64_t rank = 0;
  std::optional<int64_t> axis;
  int64_t batch_dims = 0;
  ScatterReduction reduction = ScatterReduction::kNone;

  void fields(FieldVisitor& visit) {
    visit("axis", axis, Bounds{0, std::max<int64_t>(rank, 1) - 1});
    if (!axis) visit("batch_dims", batch_dims, {0, 64});
    if (scatters) visit("reduction", reduction, kReductions, "'{}' is no reduction");
  }
};

ScatterType scatter_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ScatterType::kFloat32;
    case DType::kFloat64:
      return ScatterType::kFloat64;
    case DType::kInt32:
      return ScatterType::kInt32;
    case DType::kInt64:
      return ScatterType::kInt64;
    default:
      return ScatterType::kBytes;
  }
}

bool scatters(const Node& n) { return n.op_type.starts_with("Scatter"); }
bool is_nd(const Node& n) { return n.op_type.ends_with("ND"); }

/// Of slices, which need not have the shapes that inference sees: those of the runs that a plan serves.
bool fits(const Problem& p) {
  if (!is_nd(p.node()) || !scatters(p.node())) return true;
  const Shape &data = *p.input_shape(0), &index = *p.input_shape(1);
  if (index.empty() || index.back() < 0 || index.back() > data.rank()) return false;
  Shape wanted(std::vector<int64_t>(index.begin(), index.end() - 1));
  for (auto d = static_cast<size_t>(index.back()); d < data.size(); ++d) wanted.push_back(data[d]);
  return *p.input_shape(2) == wanted;
}

std::string supports(const Problem& p) {
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.input_shape(i) == nullptr) return "the shape is not known before the run";
  if (p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  const std::string_view reduction = string_attribute(p.node(), "reduction", "none");
  if (std::find(std::begin(kReductions), std::end(kReductions), reduction) == std::end(kReductions))
    return fmt::format("'{}' is no reduction", reduction);
  if (reduction != "none" && scatter_type(p.input_dtype(0)) == ScatterType::kBytes)
    return fmt::format("{} is not combined", dtype_name(p.input_dtype(0)));
  return fits(p) ? "" : "the plain evaluation says which shapes do not fit";
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Node& n = p.node();
  Candidate& b = proposals.add(is_nd(n) ? "slices" : "elements", NumericsClass::kExact);
  for (const Value* v : n.inputs()) b.add_input(v);
  b.add_output(n.output(0));
  StepFields fields{.scatters = scatters(n)};
  if (is_nd(n))
    fields.batch_dims = int_attribute(n, "batch_dims", 0);
  else
    fields.axis = normalize_axis(int_attribute(n, "axis", 0), p.input_shape(0)->rank());
  if (fields.scatters) {
    const auto at = std::ranges::find(kReductions, string_attribute(n, "reduction", "none"));
    fields.reduction = static_cast<ScatterReduction>(at - std::begin(kReductions));
    if (n.input(0) != n.input(1) && n.input(0) != n.input(2)) b.step.in_place.emplace_back(0, 0);
  }
  b.write(fields);
  b.estimate = estimate_seconds(
      0, 8.0 * static_cast<double>(p.output_shape(0)->numel() + p.input_shape(1)->numel()), 1);
  return {};
}

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
  StepReader::check(reduction == ScatterReduction::kNone || scatter_type(dtype) != ScatterType::kBytes,
                    "{} is not combined", dtype_name(dtype));
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
    type_ = scatter_type(data.dtype);
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
  ScatterType type_ = ScatterType::kBytes;
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
    type_ = scatter_type(data.dtype);
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
  ScatterType type_ = ScatterType::kBytes;
  ScatterReduction reduction_ = ScatterReduction::kNone;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 2, 3, 1, StepReader::May::kComputeInPlace);
  const StepFields p = read_fields(r);
  if (!p.axis) return std::make_unique<SlicesKernel>(r, p);
  if (r.raw_input(1).dtype == DType::kInt32) return std::make_unique<ElementsKernel<int32_t>>(r, p);
  r.input(1, DType::kInt64);
  return std::make_unique<ElementsKernel<int64_t>>(r, p);
}

}  // namespace

constinit const TacticDef def = {
    .name = "indexed",
    .summary = "elements and slices that indices point to, taken or brought there",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_indexed
