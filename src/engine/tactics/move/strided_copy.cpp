// Slice, Split, Transpose and Expand: elements moved between strided views. A part that lies in one piece
// needs no step at all, only another name for that memory.
#include <algorithm>

#include "analysis/match.h"
#include "engine/tactics/move/strided_copy_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/eval_util.h"

namespace assay::engine::tactic_strided_copy {
namespace {

/// A list: each has a walk of its own below.
constexpr std::string_view kOperators[] = {"Slice", "Split", "Transpose", "Expand"};

/// One output as a walk over the input: extents, strides and first element, in elements of row-major memory.
struct Walk {
  Shape extents;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

Walk transpose_walk(const Problem& p) {
  const Shape& in = *p.input_shape(0);
  std::vector<int64_t> perm = ints_attribute(p.node(), "perm");
  for (int64_t axis = in.rank(); perm.size() < in.size();) perm.push_back(--axis);
  const std::vector<int64_t> strides = in.strides();
  Walk w;
  for (const int64_t axis : perm) {
    w.extents.push_back(in[static_cast<size_t>(axis)]);
    w.strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  return w;
}

Walk expand_walk(const Problem& p) {
  return {*p.output_shape(0), broadcast_strides(*p.input_shape(0), *p.output_shape(0)), 0};
}

/// Nothing when starts, axes or steps are not constant.
std::optional<Walk> slice_walk(const Problem& p) {
  const Shape &in = *p.input_shape(0), &out = *p.output_shape(0);
  const Node& n = p.node();
  const auto starts = ints_parameter(n, "starts", 1);
  auto axes = ints_parameter(n, "axes", 3), steps = ints_parameter(n, "steps", 4);
  if (!starts || !axes || !steps) return std::nullopt;
  if (axes->empty())
    for (size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int64_t>(i));
  steps->resize(starts->size(), 1);
  Walk w{out, in.strides(), 0};
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], in.rank()));
    const int64_t extent = in[axis];
    if (extent == 0) return Walk{out, in.strides(), 0};  // nothing is walked
    // A longer step takes one element, too.
    const int64_t step = std::clamp((*steps)[i], -extent, extent);
    int64_t start = (*starts)[i] < 0 ? (*starts)[i] + extent : (*starts)[i];
    start = step > 0 ? std::clamp<int64_t>(start, 0, extent) : std::clamp<int64_t>(start, 0, extent - 1);
    w.offset += start * w.strides[axis];
    w.strides[axis] *= step;
  }
  return w;
}

std::vector<Walk> split_walks(const Problem& p) {
  const Shape& in = *p.input_shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(p.attributes().attr_int("axis"), in.rank()));
  std::vector<Walk> walks;
  int64_t at = 0;
  for (size_t i = 0; i < p.output_count(); ++i) {
    const Shape& out = *p.output_shape(i);
    walks.push_back({out, in.strides(), at * in.strides()[axis]});
    at += out[axis];
  }
  return walks;
}

std::optional<std::vector<Walk>> walks_of(const Problem& p) {
  const std::string& op = p.node().op_type;
  if (op == "Split") return split_walks(p);
  if (op == "Transpose") return std::vector<Walk>{transpose_walk(p)};
  if (op == "Expand") return std::vector<Walk>{expand_walk(p)};
  const std::optional<Walk> slice = slice_walk(p);
  return slice ? std::optional(std::vector<Walk>{*slice}) : std::nullopt;
}

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  for (size_t i = 0; i < p.output_count(); ++i)
    if (p.node().output(i) != nullptr && p.output_shape(i) == nullptr)
      return "the shape is not known before the run";
    else if (p.node().output(i) == nullptr)
      return "an output is left out";
  return walks_of(p) ? "" : "the places are not known before the run";
}

/// True when the walk visits neighbouring elements in order.
bool is_dense(const Walk& w) {
  int64_t expected = 1;
  for (size_t d = w.extents.size(); d-- > 0;) {
    if (w.extents[d] != 1 && w.strides[d] != expected) return false;
    expected *= w.extents[d];
  }
  return true;
}

/// Slices and splits of whole blocks of channels of a single blocked image lie in one piece; their offsets in
/// bytes.
std::optional<std::vector<int64_t>> blocked_parts(const Problem& p, const std::vector<Walk>& walks,
                                                  Layout layout) {
  const Shape& in = *p.input_shape(0);
  if (!layout.is_blocked() || in[0] != 1 || (p.node().op_type != "Slice" && p.node().op_type != "Split"))
    return std::nullopt;
  const int64_t inner = in.numel(2, in.size());
  std::vector<int64_t> offsets;
  for (const Walk& w : walks) {
    const Shape& out = w.extents;
    for (size_t d = 0; d < in.size(); ++d)
      if (d != 1 && out[d] != in[d]) return std::nullopt;
    if (w.strides != in.strides() || inner == 0) return std::nullopt;
    const int64_t channel = w.offset / inner;
    const bool to_end = channel + out[1] == in[1];
    if (channel % layout.block != 0 || (out[1] % layout.block != 0 && !to_end)) return std::nullopt;
    offsets.push_back(channel * inner * static_cast<int64_t>(sizeof(float)));
  }
  return offsets;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const std::vector<Walk> walks = *walks_of(p);
  const Node& n = p.node();
  const auto width = static_cast<int64_t>(storage_bytes(p.input_dtype(0), 1));
  for (const Layout layout : p.layouts(p.input_dtype(0), *p.input_shape(0))) {
    const auto offsets = blocked_parts(p, walks, layout);
    if (!offsets) continue;
    Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
    for (size_t i = 0; i < walks.size(); ++i)
      b.add_view(n.output(i), layout, n.input(0), layout, (*offsets)[i]);
  }
  Candidate& b = proposals.add(Layout().str(), NumericsClass::kExact);
  if (std::all_of(walks.begin(), walks.end(), is_dense)) {
    for (size_t i = 0; i < walks.size(); ++i)
      b.add_view(n.output(i), {}, n.input(0), {}, walks[i].offset * width);
    return {};
  }
  b.add_input(n.input(0));
  StepFields fields;
  double bytes = 0;
  for (size_t i = 0; i < walks.size(); ++i) {
    b.add_output(n.output(i));
    fields.strides.insert(fields.strides.end(), walks[i].strides.begin(), walks[i].strides.end());
    fields.offsets.push_back(walks[i].offset);
    bytes += 2.0 * static_cast<double>(walks[i].extents.numel() * width);
  }
  b.write(fields);
  b.estimate = estimate_seconds(0, bytes, 1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "strided_copy",
    .summary = "Transpose, Slice, Expand, Split: elements copied by a walk with strides",
    .version = 3,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_strided_copy
