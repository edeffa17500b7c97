// Plots errors against the magnitude of the reference.
#pragma once

#include <array>
#include <string>

#include "tensor/numbers.h"
#include "view/image.h"

namespace assay {

/// A plot of absolute and relative errors over the magnitude of the reference: two panels with a common
/// horizontal axis. Relative errors are on a logarithmic scale if they differ; errors of 0 then stand at its
/// lower end. A dot is darker for more elements. Elements that are not finite are omitted and counted in the
/// title. `title` has one line per entry. All three have the same size.
Image error_plot(const std::array<std::string, 3>& title, const Numbers& absolute, const Numbers& relative,
                 const Numbers& reference);

}  // namespace assay
