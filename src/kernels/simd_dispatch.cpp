// The three functions of libhwy that Highway's headers call. The library itself is not linked: it measures
// the clock before main() for benchmarks that nobody runs here, which would make every start of the program 4
// ms longer.
#include <hwy/targets.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/optional_targets.h"

namespace hwy {
namespace {

/// ASSAY_SIMD=baseline leaves out all that not every processor has: for tests, and to find out whether a set
/// of instructions is to blame.
int64_t detect_targets() {
  const char* const wanted = std::getenv("ASSAY_SIMD");
  if (wanted != nullptr && std::strcmp(wanted, "baseline") == 0) return HWY_STATIC_TARGET;
  return HWY_STATIC_TARGET | assay::kernels::optional_targets();
}

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = detect_targets();
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

void Abort(const char* file, int line, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
  std::abort();
}

}  // namespace hwy
