// Calibration caches: what is read is written again as the same.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "assay/int8_calibrator.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_calibration_cache {
namespace {

void run(std::string_view input) {
  const CalibrationTable table = CalibrationTable::parse(input, "the cache");
  for (const auto& [name, scale] : table.scales)
    if (name.empty() || !std::isfinite(scale) || std::signbit(scale)) {
      std::fprintf(stderr, "a calibration cache gives a tensor no scale\n");
      std::abort();
    }
  const std::string text = table.str();
  if (CalibrationTable::parse(text, "the second time").str() == text) return;
  std::fprintf(stderr, "a calibration cache changes when it is written and read\n");
  std::abort();
}

std::vector<std::string> seeds() {
  CalibrationTable few, none{.version = 0, .algorithm = CalibrationAlgorithm::kLegacy};
  few.scales = {{"input", 0.0078740157F}, {"a: b", 0}, {"(Unnamed Layer* 1) [Convolution]_output", 1e-30F}};
  return {few.str(), none.str(), "TRT-7103-MinMaxCalibration\r\ndata: 3c010a14\r\n\r\nx: 0"};
}

constexpr std::string_view kWords[] = {"TRT-",
                                       "-EntropyCalibration2",
                                       "-EntropyCalibration",
                                       "-MinMaxCalibration",
                                       "-LegacyCalibration",
                                       ": ",
                                       "\n",
                                       "\r\n",
                                       "7f800000",
                                       "80000000",
                                       "7fc00000"};

}  // namespace

constinit const Target def = {.name = "calibration_cache", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_calibration_cache
