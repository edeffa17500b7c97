// For tests: kernels on every instruction set that they are compiled for and this processor has.
#pragma once

#include <functional>

namespace assay::kernels {

/// Calls run(name of the instruction set) with that set chosen for all kernels, the widest first; not while
/// other threads use some.
void on_every_target(const std::function<void(const char*)>& run);

}  // namespace assay::kernels
