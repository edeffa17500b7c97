#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay {

uint64_t hash_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct HashStream::State {
  XXH3_state_t hash;
};

HashStream::HashStream() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }
HashStream::~HashStream() = default;
void HashStream::add(std::string_view bytes) {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}
uint64_t HashStream::value() const { return XXH3_64bits_digest(&state_->hash); }

}  // namespace assay
