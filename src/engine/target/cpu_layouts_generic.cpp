#include "engine/target/cpu_layouts.h"

namespace assay::engine {

// Blocks of our own kernels, which on aarch64 are those of oneDNN's for SVE of 512 bits, too.
std::vector<Layout> cpu_layouts() { return {Layout{16}, Layout::channels_last()}; }

}  // namespace assay::engine
