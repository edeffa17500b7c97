// What of a model's inputs and outputs takes part in generating tokens, found by names and shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/backend.h"

namespace assay::generate {

/// The roles that an input or output may have.
enum class Role : uint8_t {
  kTokens,     ///< input: the new tokens, [1, tokens]
  kMask,       ///< input: 1 for each position that is attended to, [1, positions so far]
  kPositions,  ///< input: of the new tokens, [1, tokens] or [tokens]
  kSegments,   ///< input: 0 for each new token, [1, tokens]
  kUseCache,   ///< input of merged decoders: whether the cache is used, which the first step does not
  kLogits,     ///< output: [1, tokens, vocabulary] or [1, vocabulary]
};
/// `tokens`, `mask`, ...: as they are named in a mapping.
std::string_view role_name(Role role);

/// Names given in place of what is found.
struct InterfaceNames {
  std::vector<std::pair<Role, std::string>> roles;
  /// Inputs of the cache, each with the output that it is fed from.
  std::vector<std::pair<std::string, std::string>> caches;
};
/// From words such as `tokens=ids` and `cache=past_0:present_0`. Throws Error (kInvalidArgument).
InterfaceNames parse_interface_names(const std::vector<std::string>& words);

/// An input that gets what an output gave in the step before.
struct CacheSlot {
  size_t input = 0, output = 0;
  DType dtype = DType::kUndefined;
  Shape empty;      ///< its shape before the first step
  size_t axis = 0;  ///< of the positions
};

/// Inputs and outputs by their positions in the model's lists.
struct Interface {
  std::vector<TensorInfo> inputs, outputs;
  size_t tokens = 0, logits = 0;
  std::optional<size_t> mask, positions, segments, use_cache;
  std::vector<CacheSlot> caches;  ///< empty: the whole sequence is fed in every step
  /// Tokens that a step takes; nothing: any number.
  std::optional<int64_t> step_tokens;
  /// The number of tokens that logits are for; nothing where the model leaves it open.
  std::optional<int64_t> vocabulary;

  bool has_cache() const { return !caches.empty(); }
};

/// Throws Error (kInvalidArgument) that says what was looked for and what is missing or left over.
Interface find_interface(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
                         const InterfaceNames& names = {});

}  // namespace assay::generate
