#include "analysis/extents.h"

#include <algorithm>

#include "analysis/match.h"

namespace assay {

const Dims* dims_of(const Value* v) { return v != nullptr && v->type.has_shape() ? &*v->type.dims : nullptr; }

bool same_dims(const Value* a, const Value* b) {
  const Dims *x = dims_of(a), *y = dims_of(b);
  return x != nullptr && y != nullptr &&
         std::equal(x->begin(), x->end(), y->begin(), y->end(),
                    [](const Dim& d, const Dim& e) { return d.same_as(e); });
}

std::optional<std::vector<int64_t>> reshape_target(const Dims* in, const Dims& out) {
  std::vector<int64_t> target;
  int open = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool stays = in != nullptr && i < in->size() && out[i].same_as((*in)[i]);
    if (out[i].is_known() && out[i].value() == 0) return std::nullopt;
    if (out[i].is_known()) {
      target.push_back(out[i].value());
    } else if (stays) {
      target.push_back(0);
    } else {
      target.push_back(-1);
      ++open;
    }
  }
  return open <= 1 ? std::optional(target) : std::nullopt;
}

std::optional<std::vector<int64_t>> from_front(std::vector<int64_t> axes, int rank) {
  for (int64_t& a : axes) {
    if (a < 0 && rank >= 0) a += rank;
    if (a < 0 || (rank >= 0 && a >= rank)) return std::nullopt;
  }
  return axes;
}

std::optional<std::vector<int64_t>> permutation_of(const Node& transpose) {
  const int rank = rank_of(transpose.input(0));
  std::vector<int64_t> perm = ints_attribute(transpose, "perm");
  if (perm.empty()) {
    if (rank < 0) return std::nullopt;
    for (int64_t axis = rank; axis-- > 0;) perm.push_back(axis);
    return perm;
  }
  if (rank >= 0 && perm.size() != static_cast<size_t>(rank)) return std::nullopt;
  std::optional<std::vector<int64_t>> axes = from_front(perm, static_cast<int>(perm.size()));
  if (!axes) return std::nullopt;
  std::vector<bool> is_there(axes->size());
  for (const int64_t a : *axes) is_there[static_cast<size_t>(a)] = true;
  const bool is_permutation = std::find(is_there.begin(), is_there.end(), false) == is_there.end();
  return is_permutation ? axes : std::nullopt;
}

std::optional<int64_t> concat_axis(const Node& n) {
  if (!is_op(n, "Concat")) return std::nullopt;
  const int64_t axis = int_attribute(n, "axis", 1);
  const auto front = from_front({axis}, rank_of(n.output(0)));
  return front ? (*front)[0] : axis;
}

}  // namespace assay
