// Hashes of bytes: for checksums and fingerprints, not against forgery.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace assay {

/// XXH3, 64 bits.
uint64_t hash_of(std::string_view bytes);

/// hash_of() for data that arrive in pieces.
class HashStream {
 public:
  HashStream();
  ~HashStream();
  HashStream(const HashStream&) = delete;
  HashStream& operator=(const HashStream&) = delete;
  void add(std::string_view bytes);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
