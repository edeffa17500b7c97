#include "assay/calibrator.h"

#include "poly/run_parts.h"
#include "run/calibration.h"

namespace assay::poly {

Calibrator::Calibrator(DataSource data, Options options)
    : inner_(make_calibrator({.cache = std::move(options.cache),
                              .algorithm = options.algorithm,
                              .quantile = options.quantile,
                              .data = [data = std::move(data)] { return own_data({.source = data}); }})) {}

}  // namespace assay::poly
