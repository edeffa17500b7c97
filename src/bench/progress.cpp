#include "bench/progress.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::bench {

std::string progress_text(const BuildProgress& p, double seconds) {
  std::string text = p.phase;
  if (p.total > 0) text += fmt::format(": {} of {}", p.done, p.total);
  if (p.done > 0 && p.done < p.total)
    text += fmt::format(", about {:.0f} s left", std::ceil(seconds * static_cast<double>(p.total - p.done) /
                                                           static_cast<double>(p.done)));
  if (p.from_cache > 0) text += fmt::format(", {} times from the cache", p.from_cache);
  if (!p.what.empty()) text += ": " + p.what;
  return text;
}

}  // namespace assay::bench
