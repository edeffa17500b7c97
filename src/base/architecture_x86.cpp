#include <fmt/format.h>
#include <immintrin.h>

#include "base/architecture.h"
#include "base/processor.h"

namespace assay {

std::string architecture_name() { return "x86-64"; }

std::string processor_model() {
  return fmt::format("{} family {} model {}", processor_field("model name"), processor_field("cpu family"),
                     processor_field("model"));
}

void pause_briefly() noexcept { _mm_pause(); }

void flush_from_caches(const void* data, size_t bytes) noexcept {
  constexpr size_t kLine = 64;
  const auto* const from = static_cast<const char*>(data);
  for (size_t i = 0; i < bytes; i += kLine) _mm_clflush(from + i);
  _mm_mfence();
}

}  // namespace assay
