// Which part of an evaluation a process has, as told or by its environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "eval/ranges.h"

namespace assay::eval {

/// Part `index` of `count`.
struct Shard {
  int64_t index = 0, count = 1;
  bool operator==(const Shard&) const = default;
  /// `3-of-8`, as in names of files.
  std::string text() const;

  /// Its samples of a set of this size: one range, as long as those of the others or a sample longer.
  Ranges of(int64_t samples) const;
  /// Its samples of a stream: every `count`-th block.
  bool has(int64_t sample) const { return sample / kBlock % count == index; }
  static constexpr int64_t kBlock = 64;
};

/// `I/N`, with I from 0 to N - 1. Throws Error (kInvalidArgument).
Shard parse_shard(std::string_view text);

using Environment = std::function<const char*(const char* name)>;
/// The system that set the variables, and the shard.
struct FoundShard {
  std::string origin;  ///< "Open MPI", "a Slurm job array", ...
  Shard shard;
};
/// Nothing outside of such systems. `count`: for systems that do not say how many there are. Throws Error
/// (kInvalidArgument) for a system that does not, without a count, and for numbers that cannot be.
std::optional<FoundShard> shard_of_environment(const Environment& environment, std::optional<int64_t> count);
/// The same for processes that mpirun and its like started together, and for nothing else: these are told by
/// no option.
std::optional<FoundShard> shard_of_mpi(const Environment& environment);

}  // namespace assay::eval
