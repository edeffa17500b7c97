// One sequence that a model generates: what it is fed step by step, and the cache that it gives. Knows no
// backend, so that code that runs the model in any way can follow it token by token:
//
//   TokenSequence sequence(interface);
//   for (std::span<const int64_t> part : sequence.parts(prompt)) outputs = run(sequence.feed(part)), row =
//       sequence.take(part, outputs);
//   while (...) { const int64_t token = ...; outputs = run(sequence.feed({&token, 1})); ... }
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "generate/interface.h"

namespace assay::generate {

class TokenSequence {
 public:
  explicit TokenSequence(std::shared_ptr<const Interface> interface);

  const Interface& interface() const { return *interface_; }
  const std::shared_ptr<const Interface>& shared_interface() const { return interface_; }
  /// All tokens so far.
  const std::vector<int64_t>& tokens() const { return tokens_; }
  /// Positions in the cache.
  int64_t cached() const { return cached_; }
  /// In the order of the interface's.
  const std::vector<Tensor>& caches() const { return caches_; }
  /// The same tokens and cache for another model that has a cache of the same form, of whatever type. Nothing
  /// where it has another.
  std::optional<TokenSequence> seen_by(std::shared_ptr<const Interface> other) const;

  /// The tokens of a prompt by steps: all in one, unless a step takes one only.
  std::vector<std::span<const int64_t>> parts(std::span<const int64_t> prompt) const;

  /// The inputs of a step with these new tokens, in the order of the model's inputs. Throws Error
  /// (kInvalidArgument) for a token outside of the vocabulary.
  std::vector<Tensor> feed(std::span<const int64_t> added) const;
  /// The same with names.
  TensorList named_feed(std::span<const int64_t> added) const;
  /// Takes the outputs of that step, in the order of the model's; those that are neither logits nor a cache
  /// may be undefined. Returns the logits of the last token, [vocabulary]. Throws Error (kInvalidModel) for
  /// outputs that are none of a step.
  Tensor take(std::span<const int64_t> added, std::vector<Tensor> outputs);

 private:
  void check_tokens(std::span<const int64_t> added) const;
  Tensor last_row(const Tensor& logits) const;

  std::shared_ptr<const Interface> interface_;
  std::vector<int64_t> tokens_;
  std::vector<Tensor> caches_;  ///< in the order of the interface's
  int64_t cached_ = 0;
};

}  // namespace assay::generate
