#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/architecture.h"
#include "base/processor.h"

namespace assay {

std::string architecture_name() {
  utsname system = {};
  return ::uname(&system) == 0 ? system.machine : "unknown";
}

std::string processor_model() { return processor_name(); }

void pause_briefly() noexcept { std::this_thread::yield(); }

// Without a flush instruction: reads enough other memory to evict all caches.
void flush_from_caches(const void*, size_t) noexcept {
  constexpr long kLargestKnown = long{64} << 20;
  static const std::vector<char> kOthers(
      static_cast<size_t>(2 * std::max(kLargestKnown, ::sysconf(_SC_LEVEL3_CACHE_SIZE))));
  constexpr size_t kLine = 64;
  const volatile char* const from = kOthers.data();
  for (size_t i = 0; i < kOthers.size(); i += kLine) (void)from[i];
}

}  // namespace assay
