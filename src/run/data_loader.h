// Generates input data: for the same seed the same values as Polygraphy's data loader draws with NumPy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/backend.h"
#include "assay/tensor.h"
#include "run/python_value.h"

namespace assay {

class RandomState;

/// A shape the user gave for an input, or for all inputs that a pattern (base/name_pattern.h) matches.
struct InputShape {
  std::string name;
  Dims dims;
  DType dtype = DType::kUndefined;  ///< for the log, where it is known
};

/// The smallest and largest value to draw. Defaults
/// are 0 and 1, or those of the deprecated options.
struct ValueRange {
  std::optional<PythonValue> low, high;
};

struct DataLoaderOptions {
  int64_t seed = 1;        ///< iteration i draws with seed + i
  int64_t iterations = 1;  ///< below 1: none
  std::vector<InputShape> shapes;
  std::string shapes_option;  ///< their origin, for messages; empty: the name in wording.def
  /// Per input; a name may be a pattern, and "" stands for all others. The entry of the name itself applies,
  /// else the last whose pattern matches.
  std::vector<std::pair<std::string, ValueRange>> ranges;
  /// --int-min, --int-max and --float-min, --float-max, which take precedence over `ranges`.
  std::optional<ValueRange> integer_range, float_range;
  /// Entries that match no input are an error of random_data() (DataLoader::require_fit), not a warning.
  bool refuses_misfits = false;
};

/// Draws inputs for a model. The same index gives the same data.
class DataLoader {
 public:
  /// Whether to log guesses, and the user's entries that match nothing.
  enum class Report : uint8_t { kNo, kYes };
  /// Logs the shapes that it was given. Throws Error (kInvalidArgument) for a seed that NumPy refuses.
  explicit DataLoader(DataLoaderOptions options, Report report = Report::kYes);

  int64_t size() const { return options_.iterations; }
  /// The tensors of iteration `index` in the order of `inputs`. Unknown extents become 1, with a warning.
  /// Throws Error for an input that cannot be random.
  TensorList load(int64_t index, const std::vector<TensorInfo>& inputs, Report report) const;

  /// Throws Error (kInvalidArgument) for entries that load() ignores with a warning: shapes and ranges of
  /// unknown inputs, and invalid shapes.
  void require_fit(const std::vector<TensorInfo>& inputs) const;

 private:
  void require_shape_fits(const TensorInfo& input) const;
  void warn_about_unused_shapes(const std::vector<TensorInfo>& inputs) const;
  void warn_about_unused_ranges(const std::vector<TensorInfo>& inputs) const;
  /// The user's shape for an input, by name or pattern: the last match, as in upstream; null when there is
  /// none.
  std::string shapes_setting() const;
  const InputShape* user_shape(const std::string& input) const;
  ValueRange range_for(const std::string& input, bool is_float) const;
  /// The model's shape, or the user's where that may replace it.
  Dims shape_for(const TensorInfo& input, Report report) const;
  Shape closed_shape(const TensorInfo& input, const Dims& dims, Report report) const;
  Tensor draw(RandomState& random, const TensorInfo& input, Report report) const;

  DataLoaderOptions options_;
};

}  // namespace assay
