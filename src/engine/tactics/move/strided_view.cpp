#include "engine/tactics/move/strided_view.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/eval_util.h"

namespace assay::engine {
namespace {

std::optional<size_t> axis_of(const Node& n, const Shape& shape) {
  const int64_t axis = int_attribute(n, "axis", 0);
  if (axis < -shape.rank() || axis >= shape.rank()) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis);
}

/// Of one axis, with a positive step.
bool read_slice(const Node& n, const Shape& in, ViewStep& s) {
  const auto starts = ints_parameter(n, "starts", 1), axes = ints_parameter(n, "axes", 3),
             steps = ints_parameter(n, "steps", 4);
  if (!starts || !axes || !steps || starts->size() != 1 || axes->size() > 1 || steps->size() > 1)
    return false;
  const int64_t axis = axes->empty() ? 0 : (*axes)[0];
  if (axis < -in.rank() || axis >= in.rank()) return false;
  s.axis = axis < 0 ? axis + in.rank() : axis;
  const int64_t extent = in[static_cast<size_t>(s.axis)];
  s.stride = steps->empty() ? 1 : (*steps)[0];
  if (s.stride < 1 || extent == 0) return false;
  s.stride = std::min(s.stride, extent);
  s.first = std::clamp<int64_t>((*starts)[0] < 0 ? (*starts)[0] + extent : (*starts)[0], 0, extent);
  return true;
}

bool read_split(const Node& n, const Value& v, const Shape& in, ViewStep& s) {
  const std::optional<size_t> axis = axis_of(n, in);
  if (!axis) return false;
  s.axis = static_cast<int64_t>(*axis);
  for (const Value* out : n.outputs()) {
    const std::optional<Shape> shape = out != nullptr ? shape_of(out) : std::nullopt;
    if (!shape || shape->size() != in.size()) return false;
    if (out == &v) return true;
    s.first += (*shape)[*axis];
  }
  return false;
}

bool read_gather(const Node& n, const Shape& in, ViewStep& s) {
  const std::optional<size_t> axis = axis_of(n, in);
  const std::optional<Shape> indices = shape_of(n.input(1));
  const std::optional<double> index = scalar_of(n.input(1));
  if (!axis || !index || !indices || !indices->empty()) return false;
  s.axis = static_cast<int64_t>(*axis);
  s.first = static_cast<int64_t>(*index);
  if (s.first < 0) s.first += in[*axis];
  return s.first >= 0 && s.first < in[*axis];
}

/// Neighbouring axes walked as one.
struct MergedAxes {
  int64_t extent = 1, stride = 0, repeat = 1;
};

/// Of these axes; nothing where one stride does not lead through them.
std::optional<MergedAxes> merge_axes(std::span<const int64_t> extents, std::span<const int64_t> strides,
                                     std::span<const int64_t> repeats) {
  MergedAxes m;
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] == 1) continue;
    if (m.extent == 1 && m.repeat == 1 && strides[d] == 0) {
      m.repeat = extents[d];
      continue;
    }
    if (m.extent == 1) {
      if (m.repeat != 1 && repeats[d] != 1) return std::nullopt;
      m.stride = strides[d];
      m.repeat *= repeats[d];
    } else if (repeats[d] != 1 || m.repeat != 1 || strides[d] != m.stride * m.extent) {
      return std::nullopt;
    }
    m.extent *= extents[d];
  }
  return m;
}

/// The same elements along these axes; false where they are several and elements repeat.
bool split_axes(const MergedAxes& m, std::span<const int64_t> extents, std::span<int64_t> strides,
                std::span<int64_t> repeats) {
  int64_t stride = m.stride;
  size_t parts = 0;
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] == 1) continue;
    ++parts;
    strides[d] = stride;
    repeats[d] = m.repeat;
    stride *= extents[d];
  }
  return m.repeat == 1 || parts <= 1;
}

/// How many axes at the beginning of each shape make the shortest runs with as many elements. Both shapes
/// have as many in all.
std::pair<size_t, size_t> shortest_equal_runs(std::span<const int64_t> a, std::span<const int64_t> b) {
  size_t i = 0, j = 0;
  int64_t of_a = 1, of_b = 1;
  do {
    if ((of_a <= of_b && i < a.size()) || j == b.size())
      of_a *= a[i++];
    else
      of_b *= b[j++];
  } while (of_a != of_b);
  return {i, j};
}

}  // namespace

std::optional<Factor> factor_of(const Node& n) {
  if (!is_op(n, "Mul") && !is_op(n, "Div")) return std::nullopt;
  const size_t side = scalar_of(n.input(1)) ? 0 : 1;
  const std::optional<double> number = scalar_of(n.input(1 - side));
  if (!number || (is_op(n, "Div") && (side == 1 || *number == 0))) return std::nullopt;
  return Factor{n.input(side), is_op(n, "Div") ? 1 / *number : *number};
}

std::optional<ViewStep> view_step(const Value& v) {
  using Kind = ViewStep::Kind;
  const Node* n = v.producer();
  const std::optional<Shape> out = shape_of(&v);
  if (n == nullptr || !out || out->numel() == 0) return std::nullopt;
  ViewStep s{.kind = Kind::kReshape, .node = n, .source = n->input(0), .shape = *out, .perm = {}};
  if (const std::optional<Factor> factor = factor_of(*n)) {
    s.kind = Kind::kFactor;
    s.source = factor->value;
    s.factor = factor->number;
    return shape_of(s.source) == out && dtype_of(&v) == DType::kFloat32 ? std::optional(s) : std::nullopt;
  }
  const std::optional<Shape> in = s.source != nullptr ? shape_of(s.source) : std::nullopt;
  if (!in) return std::nullopt;
  bool known = true;
  if (is_op(*n, "Transpose")) {
    const auto perm = permutation_of(*n);
    s.kind = Kind::kTranspose;
    known = perm.has_value();
    if (known) s.perm = *perm;
  } else if (is_op(*n, "Slice") || is_op(*n, "Split")) {
    s.kind = Kind::kPart;
    known = is_op(*n, "Slice") ? read_slice(*n, *in, s) : read_split(*n, v, *in, s);
  } else if (is_op(*n, "Gather")) {
    s.kind = Kind::kPick;
    known = read_gather(*n, *in, s);
  } else if (is_op(*n, "Expand")) {
    s.kind = Kind::kExpand;
    known = in->rank() <= out->rank();
  } else {
    known = is_op(*n, "Reshape") && in->numel() == out->numel();
  }
  return known ? std::optional(s) : std::nullopt;
}

bool StridedView::apply(const ViewStep& step) {
  using Kind = ViewStep::Kind;
  if (step.kind == Kind::kReshape) {
    wanted_ = step.shape;
    return true;
  }
  if (step.kind == Kind::kFactor) {
    factor_ *= step.factor;
    return true;
  }
  if (!settle()) return false;
  const auto axis = static_cast<size_t>(step.axis);
  switch (step.kind) {
    case Kind::kTranspose: {
      const StridedView before = *this;
      for (size_t d = 0; d < step.perm.size(); ++d) {
        const auto from = static_cast<size_t>(step.perm[d]);
        shape_[d] = before.shape_[from];
        strides_[d] = before.strides_[from];
        repeats_[d] = before.repeats_[from];
      }
      return true;
    }
    case Kind::kPart:
      if (repeats_[axis] != 1) return false;
      offset_ += step.first * strides_[axis];
      strides_[axis] *= step.stride;
      shape_ = step.shape;
      return true;
    case Kind::kPick:
      if (repeats_[axis] != 1) return false;
      offset_ += step.first * strides_[axis];
      shape_.erase_at(axis);
      strides_.erase(strides_.begin() + step.axis);
      repeats_.erase(repeats_.begin() + step.axis);
      return true;
    case Kind::kExpand:
      while (shape_.size() < step.shape.size()) {
        shape_.insert_at(0, 1);
        strides_.insert(strides_.begin(), 0);
        repeats_.insert(repeats_.begin(), 1);
      }
      for (size_t d = 0; d < shape_.size(); ++d)
        if (shape_[d] != step.shape[d]) {
          if (shape_[d] != 1) return false;
          strides_[d] = 0;
        }
      shape_ = step.shape;
      return true;
    default:
      return false;
  }
}

bool StridedView::reshape(const Shape& shape) {
  wanted_ = shape;
  return settle();
}

bool StridedView::settle() {
  if (!wanted_) return true;
  const Shape wanted = *wanted_;
  wanted_.reset();
  if (wanted == shape_) return true;
  if (wanted.numel() != shape_.numel()) return false;
  std::vector<int64_t> strides(wanted.size(), 0), repeats(wanted.size(), 1);
  size_t from = 0, to = 0;
  const std::span<const int64_t> old_extents = shape_.dims(), old_strides = strides_, old_repeats = repeats_,
                                 new_extents = wanted.dims();
  while (from < shape_.size() || to < wanted.size()) {
    const auto [old_axes, new_axes] = shortest_equal_runs(old_extents.subspan(from), new_extents.subspan(to));
    const std::optional<MergedAxes> merged =
        merge_axes(old_extents.subspan(from, old_axes), old_strides.subspan(from, old_axes),
                   old_repeats.subspan(from, old_axes));
    if (!merged ||
        !split_axes(*merged, new_extents.subspan(to, new_axes), std::span(strides).subspan(to, new_axes),
                    std::span(repeats).subspan(to, new_axes)))
      return false;
    from += old_axes;
    to += new_axes;
  }
  shape_ = wanted;
  strides_ = std::move(strides);
  repeats_ = std::move(repeats);
  return true;
}

}  // namespace assay::engine
