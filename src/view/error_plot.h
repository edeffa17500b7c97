// How errors depend on the size of the numbers they belong to.
#pragma once

#include <array>
#include <string>

#include "tensor/numbers.h"
#include "view/image.h"

namespace assay {

/// A plot of absolute and relative errors over the magnitude of the reference: two panels with a common
/// horizontal axis. Relative errors are on a logarithmic scale if they differ; errors of 0 then stand at its
/// lower end. Each dot is the darker the more elements it stands for. Elements that are not finite are left
/// out and counted in the title. `title` has one line per entry. All three have the same size.
Image error_plot(const std::array<std::string, 3>& title, const Numbers& absolute, const Numbers& relative,
                 const Numbers& reference);

}  // namespace assay
