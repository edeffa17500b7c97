#include "engine/target/cpu_layouts.h"

#include <gtest/gtest.h>

#include <dnnl.hpp>

namespace assay::engine::cpu_layouts_x86_test {
namespace {

/// A processor with AVX2 and VNNI got blocks of 16, for which oneDNN has no kernels without AVX-512.
TEST(CpuLayouts, BlocksAreAsWideAsVectors) {
  for (const int isa : {dnnl_cpu_isa_sse41, dnnl_cpu_isa_avx, dnnl_cpu_isa_avx2, dnnl_cpu_isa_avx2_vnni})
    EXPECT_EQ(channel_block(isa), 8) << isa;
  for (const int isa : {dnnl_cpu_isa_avx512_core, dnnl_cpu_isa_avx512_core_vnni,
                        dnnl_cpu_isa_avx512_core_bf16, dnnl_cpu_isa_avx512_core_amx})
    EXPECT_EQ(channel_block(isa), 16) << isa;
}

}  // namespace
}  // namespace assay::engine::cpu_layouts_x86_test
