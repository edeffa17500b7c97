// Files of timing caches, which several builds may share.
#pragma once

#include <string>

#include "assay/timing_cache.h"

namespace assay {

/// Fills the cache; with a warning, from nothing where the file is empty or not there. Throws Error.
void load_timing_cache(const std::string& path, TimingCache& cache);

/// Adds the cache's times, which are of this environment, to those of the file. Throws Error.
void save_timing_cache(const std::string& path, const std::string& environment, const TimingCache& cache);

}  // namespace assay
