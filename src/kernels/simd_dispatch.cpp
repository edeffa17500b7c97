// The three functions of libhwy that Highway's headers call. The library itself is not linked: it measures
// the clock before main() for benchmarks that nobody runs here, which would make every start of the program 4
// ms longer.
#include <hwy/targets.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hwy {
namespace {

/// The instruction sets of Highway's names that this CPU has. ASSAY_SIMD=baseline leaves out all that not
/// every processor has: for tests, and to find out whether a set of instructions is to blame.
int64_t detect_targets() {
  int64_t targets = HWY_STATIC_TARGET;
  const char* const wanted = std::getenv("ASSAY_SIMD");
  if (wanted != nullptr && std::strcmp(wanted, "baseline") == 0) return targets;
#if HWY_ARCH_X86
  const bool has_ssse3 = __builtin_cpu_supports("ssse3");
  const bool has_sse4 = has_ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                        __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
  const bool has_avx2 = has_sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
                        __builtin_cpu_supports("movbe");
  const bool has_avx3 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd");
  if (has_ssse3) targets |= HWY_SSSE3;
  if (has_sse4) targets |= HWY_SSE4;
  if (has_avx2) targets |= HWY_AVX2;
  if (has_avx3) targets |= HWY_AVX3;
#endif
  return targets;
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
