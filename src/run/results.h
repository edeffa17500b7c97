// The JSON files of results and inputs, byte for byte as Polygraphy writes them, at any size.
//
// Arrays are NumPy's .npy streams in base64. Reading maps the file and only finds each array's position:
// elements are decoded, straight into their tensor, when a StoredTensor is loaded. Writing takes one tensor
// at a time. So memory holds what the caller keeps and never a tensor twice. A file that is being read may be
// replaced (as saving does) but not changed in place.
//
// NumPy has no bfloat16, no float8 and no packed types: np.save writes an array of ml_dtypes as raw bytes
// without the type ('<V2'). Such tensors are saved as a separate class, NarrowArray, with
// the name of their type, their shape, and their bytes as an ndarray of uint8; upstream refuses it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor_store.h"

namespace assay {

/// The result of one inference.
struct IterationResult {
  StoredTensorList outputs;       ///< in the runner's order
  std::optional<double> runtime;  ///< seconds
  std::string runner_name;
  /// Fingerprint of its inputs (inputs_fingerprint()); empty if unknown. Polygraphy ignores it.
  std::string inputs;
};

/// Results per runner, in the order they ran. A name may occur more than once.
struct RunResults {
  std::vector<std::pair<std::string, std::vector<IterationResult>>> runners;

  /// The first runner of that name; null when there is none.
  const std::vector<IterationResult>* find(std::string_view runner_name) const;
};

/// One set of tensors per iteration.
using InputData = std::vector<StoredTensorList>;

/// Either kind of file, distinguished by its content (`inspect data` and `data merge` accept both).
using ResultsOrInputs = std::variant<RunResults, InputData>;

/// Throws Error: kNotFound, kIo, or kInvalidArgument with the error and its position; a file of another
/// kind gives upstream's message `Provided JSON cannot be decoded into a RunResults.` and its note. Formats
/// of older versions (marker keys, LazyNumpyArray, latin-1 payloads, npz payloads) are read too.
RunResults load_run_results(const std::string& path);
/// A list of feed dicts, or a single one. Same errors; results are refused, with upstream's hint to `data
/// merge`.
InputData load_inputs(const std::string& path);
ResultsOrInputs load_results_or_inputs(const std::string& path);

/// The file appears whole or not at all. Throws Error (kIo).
void save_run_results(const RunResults& results, const std::string& path);
void save_inputs(const InputData& inputs, const std::string& path);
void save_inputs(const std::vector<TensorList>& inputs, const std::string& path);

/// One iteration as a separate file: a feed dict, not a list of them.
void save_input_iteration(const TensorList& inputs, const std::string& path);

/// save_inputs() by iteration, for data created on demand.
class InputsWriter {
 public:
  explicit InputsWriter(const std::string& path);
  ~InputsWriter();
  void add(const TensorList& iteration);
  void add(const StoredTensorList& iteration);
  /// Completes the file; without it no file is left.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
