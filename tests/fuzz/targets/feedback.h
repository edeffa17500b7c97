// Which code an input reached, where the libraries are built for it (ASSAY_FUZZ).
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::fuzz {

/// Two numbers that the code compared and found different.
struct Comparison {
  uint64_t left, right;
  int bytes;
};

/// Forgets what was reached since the last call.
void start_feedback();
/// True when the code since start_feedback() did something that it never did before in this process: reached
/// a new place, or one several times more often. Remembers it.
bool found_new();
/// Places reached in this process; 0 where the libraries are not built for it.
size_t places_reached();
/// One of the last comparisons, chosen by `choice`; false when there is none.
bool some_comparison(uint64_t choice, Comparison& out);

}  // namespace assay::fuzz
