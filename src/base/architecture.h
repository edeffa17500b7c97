// What each architecture does in its own way: one definition of these for each, in architecture_NAME.cpp.
#pragma once

#include <cstddef>
#include <string>

namespace assay {

/// "x86-64", "aarch64"; of others what the system calls them.
std::string architecture_name();

/// What tells this processor's model from others, as /proc/cpuinfo has it.
std::string processor_model();

/// Tells the processor that this thread waits in a loop.
void pause_briefly() noexcept;

/// Writes memory out of all caches, so that the next read of it comes from memory.
void flush_from_caches(const void* data, size_t bytes) noexcept;

}  // namespace assay
