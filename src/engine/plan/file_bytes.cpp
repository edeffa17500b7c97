#include "engine/plan/file_bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <string>

#include "engine/plan/plan_file.h"

namespace assay::engine {

uint64_t hash_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t header_hash_of(const FileHeader& header) {
  return hash_of({reinterpret_cast<const char*>(&header), offsetof(FileHeader, header_hash)});
}

struct HashStream::State {
  XXH3_state_t hash;
};

HashStream::HashStream() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }
HashStream::~HashStream() = default;
void HashStream::add(std::string_view bytes) {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}
uint64_t HashStream::value() const { return XXH3_64bits_digest(&state_->hash); }

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
