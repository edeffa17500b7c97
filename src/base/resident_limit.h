// The limit of total memory of the process, including small blocks.
#pragma once

#include <cstdint>

namespace assay {

/// The limit by the machine, the control group or `ulimit -v`, minus a reserve for uncounted memory (the
/// program, stacks, other libraries' malloc, fragmentation). A heap block of any size that would exceed it,
/// together with tensors and heap, is refused (std::bad_alloc) before the system kills the process.
int64_t resident_limit();
/// Replaces it (tests); 0 restores the machine's.
void set_resident_limit(int64_t bytes);
/// All live tensors and heap blocks, within some hundred kilobytes per thread.
int64_t resident_bytes();

}  // namespace assay
