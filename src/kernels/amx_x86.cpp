#include "kernels/amx_x86.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::kernels {
namespace {

/// The bits of the processor's features, where the system lets this process use tiles.
unsigned tile_features() noexcept {
  constexpr unsigned kTiles = 1U << 24;
  constexpr long kAskForFeature = 0x1023, kTileData = 18;  // arch_prctl(ARCH_REQ_XCOMP_PERM)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool has_tiles = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kTiles) != 0;
  return has_tiles && ::syscall(SYS_arch_prctl, kAskForFeature, kTileData) == 0 ? edx : 0;
}

}  // namespace

bool may_use_amx(AmxNumbers numbers) noexcept {
  static const unsigned kFeatures = tile_features();
  constexpr unsigned kBFloat16 = 1U << 22, kInt8 = 1U << 25;
  return (kFeatures & (numbers == AmxNumbers::kInt8 ? kInt8 : kBFloat16)) != 0;
}

}  // namespace assay::kernels
