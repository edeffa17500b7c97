// Reads the times of layers from a saved profile.
#pragma once

#include <map>
#include <string>

namespace assay::bench {

/// Milliseconds of a run by the name of the layer, from a file that --export-profile wrote. Throws Error
/// naming the file (kNotFound, kIo; kInvalidArgument for one that is not a profile).
std::map<std::string, double> load_layer_times(const std::string& path);

}  // namespace assay::bench
