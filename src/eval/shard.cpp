#include "eval/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "assay/error.h"

namespace assay::eval {
namespace {

/// Variables of a system that starts processes: the number of this one, how many there are, and of arrays the
/// number of the first and the distance.
struct System {
  const char* name;
  bool is_mpi;
  const char *rank, *size;
  const char* first = nullptr;
  const char* step = nullptr;
  const char* last = nullptr;  ///< in place of the size
};

constexpr System kSystems[] = {
    {"Open MPI", true, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MPI (PMI)", true, "PMI_RANK", "PMI_SIZE"},
    {"a Slurm job array", false, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_STEP"},
    {"Slurm", false, "SLURM_PROCID", "SLURM_NTASKS"},
    {"a Kubernetes indexed job", false, "JOB_COMPLETION_INDEX", nullptr},
    {"a Grid Engine job array", false, "SGE_TASK_ID", nullptr, "SGE_TASK_FIRST", "SGE_TASK_STEPSIZE",
     "SGE_TASK_LAST"},
    {"a PBS job array", false, "PBS_ARRAY_INDEX", nullptr},
    {"AWS Batch", false, "AWS_BATCH_JOB_ARRAY_INDEX", nullptr},
};

/// Nothing where it is not set, or to a word such as Grid Engine's `undefined`.
std::optional<int64_t> number(const Environment& environment, const char* name) {
  const char* text = name == nullptr ? nullptr : environment(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view word(text);
  int64_t value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

/// How many processes the system says there are.
std::optional<int64_t> size_of(const System& s, const Environment& environment, int64_t first, int64_t step) {
  if (const auto size = number(environment, s.size)) return size;
  if (const auto last = number(environment, s.last)) return (*last - first) / step + 1;
  return std::nullopt;
}

std::optional<FoundShard> shard_of(const System& s, const Environment& environment,
                                   std::optional<int64_t> count) {
  const auto rank = number(environment, s.rank);
  if (!rank) return std::nullopt;
  const int64_t first = number(environment, s.first).value_or(0);
  const int64_t step = std::max<int64_t>(1, number(environment, s.step).value_or(1));
  const std::optional<int64_t> size = size_of(s, environment, first, step);
  if (!size && !count) {
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("{} says that this is process {}, but not of how many", s.name, *rank));
    throw e.set_remedy("Give their number: auto/N.");
  }
  const Shard shard{(*rank - first) / step, count.value_or(size.value_or(1))};
  require(shard.count >= 1 && shard.index >= 0 && shard.index < shard.count, ErrorCode::kInvalidArgument,
          "{} says that this is process {} (from 0 on) of {}, which cannot be", s.name, shard.index,
          shard.count);
  return FoundShard{s.name, shard};
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}-of-{}", index, count); }

Ranges Shard::of(int64_t samples) const {
  const auto start = [&](int64_t i) {
    return static_cast<int64_t>(static_cast<__int128>(samples) * i / count);
  };
  return {start(index), start(index + 1)};
}

Shard parse_shard(std::string_view text) {
  Shard shard;
  const size_t slash = text.find('/');
  const auto read = [&](std::string_view word, int64_t& value) {
    const auto got = std::from_chars(word.data(), word.data() + word.size(), value);
    return got.ec == std::errc() && got.ptr == word.data() + word.size();
  };
  require(slash != std::string_view::npos && read(text.substr(0, slash), shard.index) &&
              read(text.substr(slash + 1), shard.count) && shard.index >= 0 && shard.index < shard.count,
          ErrorCode::kInvalidArgument, "'{}' is no shard: I/N is part I of N, with I from 0 to N - 1", text);
  return shard;
}

std::optional<FoundShard> shard_of_environment(const Environment& environment, std::optional<int64_t> count) {
  for (const System& s : kSystems)
    if (auto found = shard_of(s, environment, count)) return found;
  return std::nullopt;
}

std::optional<FoundShard> shard_of_mpi(const Environment& environment) {
  for (const System& s : kSystems)
    if (s.is_mpi && number(environment, s.size).value_or(1) > 1)
      return shard_of(s, environment, std::nullopt);
  return std::nullopt;
}

}  // namespace assay::eval
