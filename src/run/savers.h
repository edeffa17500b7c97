// Saves inputs and outputs during a run, in one file or a file per iteration, and raw inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/observer.h"
#include "run/results.h"

namespace assay {

/// True when an output path is a folder with a file per iteration: it has no extension, and is not a device
/// or pipe.
bool means_folder(const std::string& path);

/// The name of an iteration's file or folder: 0000000012.
std::string iteration_name(int64_t index);

/// Throws Error (kInvalidArgument) when two output paths are equal, or an input path is one of them or inside
/// one. Empty paths are ignored.
void check_save_paths(const std::vector<std::string>& load, const std::vector<std::string>& save);

/// A destination of inputs or outputs. Reports to the observer. Throws Error (kInvalidArgument) for a folder
/// that is not empty, and when a file and a folder are confused; kIo.
class SavePlace {
 public:
  SavePlace(Saved what, std::string path, RunObserver& observer);
  bool is_folder() const { return is_folder_; }
  const std::string& path() const { return path_; }
  /// The file for an iteration; reports it to the observer.
  std::string file_for(int64_t iteration);
  /// The single file; the same.
  std::string file();

 private:
  Saved what_;
  std::string path_;
  RunObserver& observer_;
  bool is_folder_;
};

class InputsSaver {
 public:
  InputsSaver(const std::string& path, RunObserver& observer) : place_(Saved::kInputs, path, observer) {}
  void add(int64_t iteration, const TensorList& data);
  /// Completes a single file.
  void finish();

 private:
  SavePlace place_;
  std::unique_ptr<InputsWriter> writer_;
  bool finished_ = false;
};

/// A single file is written when everything is available: until then the results are kept.
class OutputsSaver {
 public:
  OutputsSaver(const std::string& path, RunObserver& observer) : place_(Saved::kOutputs, path, observer) {}
  /// One result of each runner.
  void add(int64_t iteration, const std::vector<IterationResult>& results);
  void finish();

 private:
  SavePlace place_;
  RunResults all_;
  bool finished_ = false;
};

/// FOLDER/ITERATION/NAME.bin: the bytes of each input, little-endian, row-major, without a header. Throws
/// Error for a folder that is a file, for a name that leaves the folder, and for types that have no bytes of
/// a fixed size.
class BlobSaver {
 public:
  BlobSaver(std::string folder, RunObserver& observer);
  void add(int64_t iteration, const TensorList& data);

 private:
  std::string folder_;
};

}  // namespace assay
