// How much memory one object may ask for.
#pragma once

#include <cstdint>

namespace assay {

/// Bytes that a single allocation may take at most: the memory of the machine, or less where the process or
/// its control group may have less. What asks for more is refused before anything is allocated, because Linux
/// hands out memory that it does not have and kills the process when it is touched.
int64_t memory_limit();
/// Replaces it, for tests; 0 brings back the machine's.
void set_memory_limit(int64_t bytes);

}  // namespace assay
