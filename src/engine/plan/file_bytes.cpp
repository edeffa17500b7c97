#include "engine/plan/file_bytes.h"

#include <cstddef>
#include <string>

#include "base/hash.h"
#include "engine/plan/plan_file.h"

namespace assay::engine {

uint64_t header_hash_of(const FileHeader& header) {
  return hash_of({reinterpret_cast<const char*>(&header), offsetof(FileHeader, header_hash)});
}

BlobList::Place BlobList::add(std::string_view bytes) {
  if (bytes.empty()) return {0, 0};
  const auto it = known_.find(bytes.data());
  if (it != known_.end() && it->second.bytes == bytes.size()) return it->second;
  const Place place{(size_ + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment, bytes.size()};
  blobs_.emplace_back(place, bytes);
  known_.insert_or_assign(bytes.data(), place);
  size_ = place.offset + place.bytes;
  return place;
}

BlobList::Place BlobList::add_owned(std::string bytes) {
  owned_.push_back(std::make_unique<const std::string>(std::move(bytes)));
  return add(*owned_.back());
}

}  // namespace assay::engine
