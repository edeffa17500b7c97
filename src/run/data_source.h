// Sources of a run's inputs, iteration by iteration.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/tensor.h"
#include "run/data_loader.h"
#include "run/results.h"

namespace assay {

/// Returns the inputs of each iteration once, by name. Data created on demand (random, read, computed by a
/// script) need memory for one iteration.
class DataSource {
 public:
  virtual ~DataSource() = default;
  /// Before any work: checks everything that does not need the inputs. Throws Error.
  virtual void prepare() {}
  /// Before the first next(): the inputs of the runner that the data are for. Throws Error.
  virtual void begin(const std::vector<TensorInfo>& inputs) = 0;
  /// Nothing when there are no more. Throws Error.
  virtual std::optional<TensorList> next() = 0;
};

/// Drawn at random, for the runner's inputs.
std::unique_ptr<DataSource> random_data(DataLoaderOptions options);
/// Read from files and folders (input_files()), each file on demand, which is logged.
std::unique_ptr<DataSource> saved_data(std::vector<std::string> paths);

/// The files of saved iterations at a path: itself,
/// or the `.json` files of a folder, sorted by name.
std::vector<std::string> iteration_files(const std::string& path);
bool is_folder(const std::string& path);

/// Loads a file of results or inputs, and says so in the log. The wrong kind is logged, as in upstream, and
/// throws ExpectedError.
InputData load_inputs_aloud(const std::string& path);
RunResults load_results_aloud(const std::string& path);

}  // namespace assay
