// Grids and frames of images.
#include <algorithm>
#include <numeric>

#include "convert/expansions/parts.h"
#include "convert/steps.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

/// Padding that may be negative, which crops. Halves are rounded towards 0.
void expand_center_crop_pad(Rewrite& r) {
  const int rank = r.rank(0);
  Ints axes = r.get_ints("axes");
  if (!r.has("axes")) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  // Positions of the input's axes among those that change, after one that does not.
  Ints place(static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0) axes[i] += rank;
    place.at(static_cast<size_t>(axes[i])) = static_cast<int64_t>(i) + 1;
  }
  const std::optional<Tensor> wanted = r.constant_value(r.input(1));
  Ints known(static_cast<size_t>(2 * rank), 0);
  bool is_known = wanted.has_value();
  for (int64_t d = 0; d < rank && is_known; ++d) {
    const auto extent = known_extent(r.input(0), d);
    const int64_t i = place[static_cast<size_t>(d)];
    is_known = i == 0 || extent.has_value();
    if (i == 0 || !is_known) continue;
    const int64_t added = wanted->to_int64().at(static_cast<size_t>(i - 1)) - *extent;
    known[static_cast<size_t>(d)] = added / 2;
    known[static_cast<size_t>(d + rank)] = added - added / 2;
  }
  if (is_known) return r.replace({r.add("Pad", {r.input(0), r.ints(known, "pads")})});
  Value* given = r.add("Gather", {r.add("Shape", {r.input(0)}), r.ints(axes, "axes")});
  Value* added = r.add("Sub", {cast(r, r.input(1), DType::kInt64), given});
  Value* begin = r.add("Div", {added, r.ints({2}, "two")});
  Value* end = r.add("Sub", {added, begin});
  const AttributeList in_a_row = {{"axis", int64_t{0}}};
  const auto of_all = [&](Value* part) {
    return r.add("Gather", {r.add("Concat", {r.ints({0}, "none"), part}, in_a_row), r.ints(place, "places")});
  };
  r.replace({r.add("Pad", {r.input(0), r.add("Concat", {of_all(begin), of_all(end)}, in_a_row)})});
}

/// theta * (x, y, [z,] 1), where every coordinate has its own axis.
void expand_affine_grid(Rewrite& r) {
  const int64_t rows = needed_extent(r, 0, 1, "theta");
  if (rows < 2 || rows > 3) no_equivalent("an input 'theta' of {} rows", rows);
  const DType t = r.dtype(0), wide = t == DType::kFloat64 ? t : DType::kFloat32;
  const bool corners = r.get_int("align_corners", 0) != 0;
  Value* theta = cast(r, r.input(0), wide);
  Value* one = r.number(1, wide, "one");
  const auto doubled = [&](Value* v) { return r.add("Add", {v, v}); };
  const auto coordinates = [&](int64_t axis) {
    Value* count = r.add("Gather", {r.input(1), whole(r, axis, "axis")});
    Value *place = doubled(cast(r, count_up(r, count), wide)), *n = cast(r, count, wide);
    if (!corners) return r.add("Div", {r.add("Sub", {r.add("Add", {place, one}), n}), n});
    // A single element is at 0.
    Value* last = r.add("Sub", {n, one});
    Value* is_single = cast(r, r.add("Not", {cast(r, last, DType::kBool)}), wide);
    return r.add("Div", {r.add("Sub", {place, last}), r.add("Add", {last, is_single})});
  };
  /// Column k of theta as [batch, 1, ..., 1, rows].
  const auto column = [&](int64_t k) {
    Ints ones(static_cast<size_t>(rows));
    std::iota(ones.begin(), ones.end(), int64_t{1});
    Value* v = r.add("Gather", {theta, whole(r, k, "column")}, {{"axis", int64_t{2}}});
    return unsqueeze(r, v, ones);
  };
  Value* sum = nullptr;
  for (int64_t k = 0; k < rows; ++k) {
    // x runs along the last axis, and each of the following along the one before.
    Ints behind(static_cast<size_t>(k) + 1);
    std::iota(behind.begin(), behind.end(), int64_t{1});
    Value* term = r.add("Mul", {column(k), unsqueeze(r, coordinates(rows + 1 - k), behind)});
    sum = sum == nullptr ? term : r.add("Add", {sum, term});
  }
  r.replace({cast(r, r.add("Add", {sum, column(rows)}), t)});
}

}  // namespace

constinit const Expansion expansion_onnx_AffineGrid = {"", "AffineGrid", 13, "Range, Mul and Add",
                                                       expand_affine_grid};
constinit const Expansion expansion_onnx_CenterCropPad = {"", "CenterCropPad", 13, "Pad",
                                                          expand_center_crop_pad};

}  // namespace assay
