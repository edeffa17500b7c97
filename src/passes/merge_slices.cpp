// A Slice of a Slice becomes one: on other axes both lists together, on the same axis the piece of the piece.
#include <algorithm>
#include <limits>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_slices {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();

/// start, end and step of one axis.
struct Piece {
  int64_t axis, start, end, step;
};

/// Where an extent is known, positions counted from its end are counted from its start.
void count_from_front(std::vector<Piece>& pieces, const Dims* dims) {
  for (Piece& p : pieces) {
    const Dim extent = dims != nullptr ? dims->at(static_cast<size_t>(p.axis)) : Dim();
    if (!extent.is_known() || p.step < 1) continue;
    for (int64_t* i : {&p.start, &p.end})
      *i = std::clamp<int64_t>(*i < 0 ? *i + extent.value() : *i, 0, extent.value());
  }
}

std::optional<std::vector<Piece>> pieces_of(const Node& n) {
  const auto starts = ints_parameter(n, "starts", 1), ends = ints_parameter(n, "ends", 2);
  auto axes = ints_parameter(n, "axes", 3), steps = ints_parameter(n, "steps", 4);
  if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) return std::nullopt;
  if (axes->empty())
    for (size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int64_t>(i));
  if (steps->empty()) steps->resize(starts->size(), 1);
  axes = from_front(std::move(*axes), rank_of(n.input(0)));
  if (!axes || axes->size() != starts->size() || steps->size() != starts->size()) return std::nullopt;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < starts->size(); ++i)
    pieces.push_back({(*axes)[i], (*starts)[i], (*ends)[i], (*steps)[i]});
  count_from_front(pieces, dims_of(n.input(0)));
  return pieces;
}

/// The piece `outer` of the piece `inner`; nothing when it depends on the extent.
std::optional<Piece> composed(const Piece& inner, const Piece& outer) {
  if (inner.step != 1 || outer.step != 1 || inner.start < 0 || outer.start < 0) return std::nullopt;
  if (inner.start >= kToTheEnd || outer.start >= kToTheEnd) return std::nullopt;
  const int64_t start = inner.start + outer.start;
  if (outer.end >= kToTheEnd) return Piece{inner.axis, start, inner.end, 1};
  if (outer.end < 0) {
    // Counted from an end that is the extent's own.
    if (inner.end < kToTheEnd) return std::nullopt;
    return Piece{inner.axis, start, outer.end, 1};
  }
  if (inner.end < 0) return std::nullopt;
  return Piece{inner.axis, start, std::min(inner.start + outer.end, inner.end), 1};
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Slice") || n.output(0) == nullptr) return std::nullopt;
  const Node* first = producer_of(n.input(0), "Slice");
  if (first == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  std::optional<std::vector<Piece>> all = pieces_of(*first);
  const std::optional<std::vector<Piece>> outer = pieces_of(n);
  if (!all || !outer) return std::nullopt;
  for (const Piece& p : *outer) {
    const auto same =
        std::find_if(all->begin(), all->end(), [&](const Piece& q) { return q.axis == p.axis; });
    if (same == all->end()) {
      all->push_back(p);
      continue;
    }
    const std::optional<Piece> both = composed(*same, p);
    if (!both) return std::nullopt;
    *same = *both;
  }
  std::vector<int64_t> starts, ends, axes, steps;
  for (const Piece& p : *all) {
    starts.push_back(p.start);
    ends.push_back(p.end);
    axes.push_back(p.axis);
    steps.push_back(p.step);
  }
  Patch patch(n);
  patch.remove(*first);
  patch.remove(n);
  if (context.model.opset() < 10) {
    patch.add("Slice", {first->input(0)}, {{"starts", starts}, {"ends", ends}, {"axes", axes}}, n.output(0));
    return patch;
  }
  std::vector<Patch::Ref> inputs = {first->input(0)};
  const bool has_steps = std::any_of(steps.begin(), steps.end(), [](int64_t s) { return s != 1; });
  for (const auto& [name, list] :
       {std::pair("starts", &starts), {"ends", &ends}, {"axes", &axes}, {"steps", &steps}})
    if (list != &steps || has_steps)
      inputs.push_back(patch.constant(n.output(0)->name() + "/" + name, Tensor::vector(*list)));
  patch.add("Slice", std::move(inputs), {}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_slices",
    .summary = "a Slice of a Slice becomes one",
    .conditions =
        "Starts, ends, axes and steps are constants and the rank is known where an axis is negative. On a "
        "shared axis both steps are 1 and the positions do not depend on an unknown extent. Nothing else "
        "uses the inner Slice.",
    .match = match,
};

}  // namespace assay::pass_merge_slices
