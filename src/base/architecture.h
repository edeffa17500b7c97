// Architecture-specific functions: each architecture defines them in architecture_NAME.cpp.
#pragma once

#include <cstddef>
#include <string>

namespace assay {

/// "x86-64", "aarch64"; for others the system's name.
std::string architecture_name();

/// The identification of this processor's model, from /proc/cpuinfo.
std::string processor_model();

/// Hints to the processor that this thread is spinning.
void pause_briefly() noexcept;

/// Writes memory out of all caches, so that the next read of it comes from memory.
void flush_from_caches(const void* data, size_t bytes) noexcept;

}  // namespace assay
