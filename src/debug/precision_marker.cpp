#include "debug/precision_marker.h"

#include "debug/halvings.h"

namespace assay::debug {
namespace {

std::optional<size_t> bisect(size_t layers, const MarkerCheck& passes) {
  size_t good = layers + 1, bad = 0, marked = layers;
  while (marked <= layers) {
    const bool is_good = passes(marked, halvings(good > bad ? good - bad : 1));
    (is_good ? good : bad) = marked;
    const size_t sum = good + bad, next = is_good ? sum / 2 : (sum + 1) / 2;
    if (good - bad <= 1 || next == marked) break;
    marked = next;
  }
  if (good > layers) return std::nullopt;
  return good;
}

std::optional<size_t> go_up(size_t layers, const MarkerCheck& passes) {
  for (size_t marked = 0; marked <= layers; ++marked)
    if (passes(marked, layers - marked)) return marked;
  return std::nullopt;
}

}  // namespace

std::optional<size_t> search_marker(size_t layers, MarkerMode mode, const MarkerCheck& passes) {
  return mode == MarkerMode::kBisect ? bisect(layers, passes) : go_up(layers, passes);
}

}  // namespace assay::debug
