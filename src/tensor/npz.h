// NumPy's .npz archives: zip files of .npy streams.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/tensor.h"

namespace assay {

class AtomicFile;

/// The arrays of an archive, in the order of its directory. Entries may be stored or deflated, of any size
/// (zip64). Throws Error: kInvalidArgument for a damaged archive (checksums are verified, entries may not
/// overlap), kUnsupported for other compression methods and encryption.
class NpzReader {
 public:
  /// Reads the directory. With an owner that keeps the bytes alive, arrays that are stored and aligned are
  /// views.
  explicit NpzReader(std::string_view bytes, std::shared_ptr<const void> owner = nullptr);
  /// Maps a file. Errors name it.
  static NpzReader open(const std::string& path);

  size_t size() const { return entries_.size(); }
  /// Without the suffix .npy.
  const std::string& name(size_t i) const { return entries_[i].name; }
  Tensor load(size_t i) const;
  /// All of them.
  TensorList load_all() const;

 private:
  struct Entry {
    std::string name;
    uint32_t crc = 0;
    int method = 0;
    uint64_t stored_bytes = 0;  ///< in the archive
    uint64_t bytes = 0;         ///< of the .npy stream
    uint64_t header_offset = 0;
  };

  void read_directory(uint64_t offset, uint64_t bytes, uint64_t count);
  /// Throws Error if entries overlap: a few bytes could otherwise claim to be any number of arrays.
  void check_overlaps() const;
  std::string_view stored_data(const Entry& entry) const;
  Tensor load_deflated(const Entry& entry, std::string_view data) const;

  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<Entry> entries_;
};

/// Writes an archive entry by entry, stored, each array's elements aligned so that a mapping can be used as
/// it is.
class NpzWriter {
 public:
  explicit NpzWriter(const std::string& path);
  ~NpzWriter();
  /// Throws Error: kInvalidArgument for a name that was used, kUnsupported as npy_header().
  void add(const std::string& name, const Tensor& tensor);
  /// Completes the file; without it no file is left.
  void commit();

 private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t bytes, offset;
  };
  std::unique_ptr<AtomicFile> file_;
  std::vector<Entry> entries_;
};

void save_npz(const TensorList& tensors, const std::string& path);

}  // namespace assay
