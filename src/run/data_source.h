// Where the inputs of a run come from: one iteration after the other.
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

/// Gives the inputs of each iteration once, by name. Data that are made as they are asked for (drawn, read,
/// computed by a script) need memory for one iteration.
class DataSource {
 public:
  virtual ~DataSource() = default;
  /// Before any work: fails for what can be known without the inputs. Throws Error.
  virtual void prepare() {}
  /// Before the first next(): the inputs of the runner that the data are for. Throws Error.
  virtual void begin(const std::vector<TensorInfo>& inputs) = 0;
  /// Nothing when there are no more. Throws Error.
  virtual std::optional<TensorList> next() = 0;
};

/// Drawn at random, for the runner's inputs.
std::unique_ptr<DataSource> random_data(DataLoaderOptions options);
/// Read from files and folders (input_files()), each file when it is wanted; says so in the log.
std::unique_ptr<DataSource> saved_data(std::vector<std::string> paths);

/// The files of saved iterations that a path stands for: itself, or those of a folder that end in `.json`, in
/// the order of their names.
std::vector<std::string> iteration_files(const std::string& path);
bool is_folder(const std::string& path);

/// Loads a file of results or inputs, and says so in the log. One of the wrong kind is explained there, as
/// upstream does: throws ExpectedError.
InputData load_inputs_aloud(const std::string& path);
RunResults load_results_aloud(const std::string& path);

}  // namespace assay
