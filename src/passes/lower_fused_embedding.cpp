#include "analysis/match.h"
#include "passes/lower_fused.h"

namespace assay::pass_lower_fused {
namespace {

enum EmbeddingInput : size_t {
  kWords,
  kSegments,
  kWordTable,
  kPositionTable,
  kSegmentTable,
  kGamma,
  kBeta,
  kMask,
  kPositions
};

/// Segments for the ids and a table of as wide rows, or neither.
bool segments_fit(const Node& n, const Shape& ids, int64_t hidden) {
  const bool has_segments = n.input(kSegments) != nullptr;
  if (has_segments != (n.input(kSegmentTable) != nullptr)) return false;
  if (!has_segments) return true;
  const Shape table = *shape_of(n.input(kSegmentTable));
  return shape_of(n.input(kSegments)) == ids && table.size() == 2 && table[1] == hidden;
}

/// Positions for the ids, or a table that has one for each place.
bool positions_fit(const Node& n, const Shape& ids, const Shape& table) {
  const std::optional<Shape> given = shape_of(n.input(kPositions));
  return given ? *given == ids || *given == Shape{1, ids[1]} : ids[1] <= table[0];
}

/// float32 counts its ones.
bool mask_fits(const Node& n, const Shape& ids) {
  constexpr int64_t kMaxCounted = 1 << 24;
  return n.input(kMask) == nullptr || (shape_of(n.input(kMask)) == ids && ids[1] <= kMaxCounted);
}

bool inputs_fit(const Node& n) {
  const std::optional<Shape> ids = shape_of(n.input(kWords)), words = shape_of(n.input(kWordTable)),
                             positions = shape_of(n.input(kPositionTable));
  if (!words || !positions || ids->size() != 2 || words->size() != 2 || positions->size() != 2) return false;
  const int64_t hidden = (*words)[1];
  if (!segments_fit(n, *ids, hidden) || (*positions)[1] != hidden || !mask_fits(n, *ids) ||
      !positions_fit(n, *ids, *positions))
    return false;
  return shape_of(n.input(kGamma)) == Shape{hidden} && shape_of(n.input(kBeta)) == Shape{hidden};
}

/// How many elements of each row of the mask are 1: float32 counts them exactly, and kernels sum it up.
Term lengths_of_rows(Writer& w, int64_t rows) {
  Formula& f = w.f;
  const Term none = f.constant(Tensor::zeros(DType::kInt32, {rows}));
  if (!w.has(kMask)) return none;
  const Term one = f.constant(Tensor::scalar(int32_t{1}));
  const Term ones = f.cast(f.compare("Equal", w.in(kMask), one), DType::kFloat32);
  return f.cast(f.reshape(f.reduce("ReduceSum", ones), none.shape), DType::kInt32);
}

}  // namespace

std::optional<Patch> embedding(const Node& n, const PassContext& context) {
  if (!inputs_fit(n)) return std::nullopt;
  const Shape ids = *shape_of(n.input(kWords));
  Writer w(n, context);
  Formula& f = w.f;
  const Term word = f.gather(w.in(kWordTable), f.from_start(w.in(kWords)));
  const Term position = w.has(kPositions) ? f.gather(w.in(kPositionTable), f.from_start(w.in(kPositions)))
                                          : f.slice(w.in(kPositionTable), 0, 0, ids[1]);
  Term sum = f.binary("Add", word, position);
  if (w.has(kSegments))
    sum = f.binary("Add", sum, f.gather(w.in(kSegmentTable), f.from_start(w.in(kSegments))));
  const Term y = f.normalize(sum, true, static_cast<float>(float_attribute(n, "epsilon", kEpsilon)));
  if (w.wants(1)) f.give(lengths_of_rows(w, ids[0]), n.output(1));
  if (w.wants(2)) f.give(sum, n.output(2));
  return w.done(f.binary("Add", f.binary("Mul", y, w.in(kGamma)), w.in(kBeta)));
}

}  // namespace assay::pass_lower_fused
