// The header of a plan file, and the layout of its blobs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::engine {

/// The first bytes of a plan file. Numbers are in the byte order of the machine that wrote them.
struct FileHeader {
  char magic[8];
  uint32_t byte_order;
  uint32_t version;
  uint64_t structure_bytes;  ///< the structure follows the header
  uint64_t blob_offset;      ///< a multiple of kBlobPartAlignment
  uint64_t blob_bytes;       ///< to the end of the file
  uint64_t structure_hash;   ///< XXH3, as the next two
  uint64_t blob_hash;
  uint64_t header_hash;  ///< of all fields before
};
static_assert(sizeof(FileHeader) == 64);

inline constexpr char kMagic[8] = {'A', 'S', 'S', 'A', 'Y', 'P', 'L', 'N'};
inline constexpr uint32_t kByteOrder = 0x01020304;
/// A page, so that blobs keep their alignment when the file is mapped.
inline constexpr uint64_t kBlobPartAlignment = 4096;

uint64_t header_hash_of(const FileHeader& header);

/// Blobs of a file being written, in order. Bytes at one address are written once.
class BlobList {
 public:
  struct Place {
    uint64_t offset, bytes;
  };
  /// `bytes` must live until they are written.
  Place add(std::string_view bytes);
  /// The same for bytes that the list keeps.
  Place add_owned(std::string bytes);

  uint64_t size() const { return size_; }
  /// Calls sink(std::string_view) with all bytes, padding included.
  template <typename Sink>
  void write_to(Sink sink) const {
    static constexpr char kPadding[64] = {};
    uint64_t at = 0;
    for (const auto& [place, bytes] : blobs_) {
      sink(std::string_view(kPadding, place.offset - at));
      sink(bytes);
      at = place.offset + place.bytes;
    }
  }

 private:
  uint64_t size_ = 0;
  std::vector<std::pair<Place, std::string_view>> blobs_;
  std::unordered_map<const char*, Place> known_;
  std::vector<std::unique_ptr<const std::string>> owned_;
};

}  // namespace assay::engine
