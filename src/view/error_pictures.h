// Plots of the errors between two outputs, as files.
#pragma once

#include <memory>
#include <string>

#include "compare/pictures.h"

namespace assay {

/// Writes heatmaps into one folder (`Absolute Error | y: (...) to (...).svg`) and error plots into another
/// (`error_metrics_y.png`); an empty name means none. Folders are created on demand. Throws Error (kIo) when
/// a file cannot be written.
std::shared_ptr<ErrorPictures> error_pictures(std::string heatmap_folder, std::string plot_folder);

}  // namespace assay
