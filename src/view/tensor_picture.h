// A tensor in numbers and two small pictures: a histogram and a heat map of averages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/tensor.h"
#include "base/json_writer.h"

namespace assay {

struct TensorPicture {
  static constexpr int kBins = 64;
  static constexpr int64_t kMaxRows = 40, kMaxColumns = 64;  ///< of the heat map

  std::string of;  ///< whose it is: a runner, `weights`
  int64_t elements = 0, nan = 0, infinite = 0;
  double min = 0, max = 0, mean = 0, deviation = 0;  ///< of the finite elements
  std::vector<int64_t> counts;                       ///< of kBins equal intervals from min to max
  /// The tensor as a matrix (the first axis against all others), each cell the average of its finite
  /// elements; NaN where it has none.
  int64_t rows = 0, columns = 0;
  std::vector<double> cells;
};

/// False for what has no numbers: strings, complex numbers, sequences, and tensors without elements.
bool can_picture(const Tensor& tensor);
TensorPicture picture_of(const Tensor& tensor, std::string of);
void write_picture(JsonWriter& json, const TensorPicture& picture);

}  // namespace assay
