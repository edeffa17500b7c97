// The most memory that the process has used.
#pragma once

#include <cstdint>

namespace assay {

/// In bytes, since the process began or reset_peak_memory(); 0 where the system does not tell.
int64_t peak_memory();
/// Begins to count again from what is in use now, where the system lets the process do so.
void reset_peak_memory();

}  // namespace assay
