// External data files that are written with a model.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/atomic_file.h"
#include "graph/export.h"
#include "graph/model_message.h"

namespace assay {

/// Writes initializers' data to files of their own, in the model's folder.
class ExternalDataWriter final : public DataPlacer {
 public:
  /// Throws Error (kInvalidArgument) for a data path outside the model's folder.
  ExternalDataWriter(const std::filesystem::path& model_path, const ExportOptions& options);

  bool takes(const Value& initializer) const override;
  DataPlace add(const Value& initializer) override;

  /// The files' names, relative to the model's folder.
  std::vector<std::string> locations() const;
  /// As AtomicFile::prepare(), for all files.
  void prepare();
  /// Puts all files in their places.
  void commit();

 private:
  std::string unique_file_name(const std::string& name);

  const ExportOptions& options_;
  std::filesystem::path folder_;
  std::string location_;
  std::vector<std::pair<std::string, std::unique_ptr<AtomicFile>>> files_;
  std::unordered_set<std::string> names_;
};

/// Refuses, by Error (kInvalidArgument) with a remedy, to replace the model at `path` by one with references
/// to `kept` and data files `written`, when that would leave a data file of the old model without a model, or
/// replace a data file that is not the old model's.
void check_data_files(const std::filesystem::path& path, const std::set<std::string>& kept,
                      const std::vector<std::string>& written);

}  // namespace assay
