// The functions that the fuzz driver (driver.cpp) feeds: one file and one line in targets.def each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/random.h"

namespace assay::fuzz {

/// Code that gets bytes of a stranger. The driver calls run() with one input after the other, all in one
/// process and on one thread. A fault is whatever ends the process (sanitizers, signals), any exception but
/// assay::Error, an Error of kind kInternal, and more than kMaxSeconds for one input; the input is saved
/// then.
struct Target {
  const char* name;
  /// Reads `input`, a block of exactly its size.
  /// Everything that it makes is freed when it returns.
  void (*run)(std::string_view input);
  /// Where to begin: small valid inputs, and every input that has ever shown a fault.
  std::vector<std::string> (*seeds)();
  /// One change that knows the format, or null where changes of bytes do. The driver alternates both kinds.
  void (*mutate)(std::string& input, Random& random) = nullptr;
  /// Words that changes of bytes put in.
  std::span<const std::string_view> words = {};
  size_t most_bytes = 4096;
};

/// Seconds of processor time that one input may take; sanitizers make it three to four times as much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kMaxSeconds = 20;
#else
inline constexpr int kMaxSeconds = 5;
#endif

/// The path of a file that holds these bytes until the next call, for readers that take a path.
const std::string& input_file(std::string_view bytes);

/// A change that knows no format: bits, bytes, numbers at limits, words, and blocks taken out, doubled or
/// moved.
void mutate_bytes(std::string& input, Random& random, std::span<const std::string_view> words);

#define FUZZ_TARGET(name)    \
  namespace target_##name {  \
    extern const Target def; \
  }
#include "fuzz/targets/targets.def"
#undef FUZZ_TARGET

}  // namespace assay::fuzz
