// How much memory the process may take in all, small blocks included.
#pragma once

#include <cstdint>

namespace assay {

/// What the machine, the control group or `ulimit -v` lets the process have, less a part for what is not
/// counted (the program, stacks, what libraries take from malloc, gaps). A block of the heap, of any size,
/// that would make tensors and heap more is refused (std::bad_alloc) before the system kills the process.
int64_t resident_limit();
/// Replaces it (tests); 0 brings back the machine's.
void set_resident_limit(int64_t bytes);
/// All tensors and all blocks of the heap that are alive, to some hundred kilobytes for each thread.
int64_t resident_bytes();

}  // namespace assay
