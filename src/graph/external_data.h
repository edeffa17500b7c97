// External data files that are written with a model.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/io.h"
#include "base/atomic_file.h"
#include "base/sha1.h"
#include "graph/model_message.h"

namespace assay {

/// The location of the data of a model at `model_path`, relative to its folder; an empty name selects the
/// default. Throws Error (kInvalidArgument) for a path outside the model's folder, or the model's own.
std::string external_data_location(const std::filesystem::path& model_path, const std::string& name);

/// Writes initializers' data to files of their own, in the model's folder, so that at every moment either the
/// old model or the new one exists with its data. A model's message is made three
/// times:
///
///     kCollect   the writer records which initializers it takes; write() then writes their data
///     kFresh     the message refers to the data under names that nothing has had before
///     kFinal     it refers to them under the names that were asked for
///
/// and put_in_place() gives the data the fresh names, lets the first of the two messages take the model's
/// place, gives the data their final names, too, and lets the second message take its place.
class ExternalDataWriter final : public DataPlacer {
 public:
  enum class Names { kCollect, kFresh, kFinal };

  /// Throws Error (kInvalidArgument) for a data path outside the model's folder, or the model's own.
  ExternalDataWriter(const std::filesystem::path& model_path, const ExportOptions& options);

  bool takes(const Value& initializer) const override;
  DataPlace add(const Value& initializer) override;
  void use(Names names) { names_ = names; }

  /// Writes all data, durably. Throws Error (kIo).
  void write();
  /// The files' final names, relative to the model's folder.
  std::vector<std::string> locations() const;
  /// `fresh` and `final` commit the two messages. If it fails between them, the new model exists, with its
  /// data under the fresh names. Throws Error (kIo).
  void put_in_place(const std::function<void()>& fresh, const std::function<void()>& final);

 private:
  struct File {
    std::string location;
    std::unique_ptr<AtomicFile> file;
    std::string checksum;
  };
  struct Place {
    size_t file, offset;
  };
  void open_file(const Value& initializer);
  void write_data(std::string_view bytes);
  void finish_file();
  std::string unique_file_name(const std::string& name);

  const ExportOptions& options_;
  std::filesystem::path folder_;
  std::string location_;
  Names names_ = Names::kCollect;
  uint64_t writer_ = new_writer_id();
  std::vector<const Value*> collected_;
  std::vector<File> files_;
  Sha1 sum_;  ///< of the file that is being written
  std::unordered_map<const Value*, Place> places_;
  std::unordered_set<std::string> taken_names_;
};

/// True when a reference names data by a fresh name, which only the saved model may keep using.
bool is_fresh_location(std::string_view location);

/// Refuses, by Error (kInvalidArgument) with a remedy, to replace the model at `path` by one with references
/// to `kept` and data files `written`, when that would leave a data file of the old model without a model, or
/// replace a data file that is not the old model's. Data under a fresh
/// name, left by an interrupted save, do not count: if there are some,
/// returns true, and remove_stale_temporaries() removes them afterwards.
bool check_data_files(const std::filesystem::path& path, const std::set<std::string>& kept,
                      const std::vector<std::string>& written);

}  // namespace assay
