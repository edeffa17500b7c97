#include "eval/shard.h"

#include <gtest/gtest.h>

#include <map>

#include "assay/error.h"

namespace assay::eval::shard_test {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Shard, CoverEverySampleOnce) {
  for (const int64_t samples : {0, 1, 7, 64, 1000, 1001})
    for (const int64_t count : {1, 2, 3, 8, 100}) {
      Ranges all;
      int64_t least = samples, most = 0, of_stream = 0;
      for (int64_t i = 0; i < count; ++i) {
        const Ranges part = Shard{i, count}.of(samples);
        EXPECT_TRUE(all.common(part).empty());
        all.add(part);
        least = std::min(least, part.count());
        most = std::max(most, part.count());
        for (int64_t s = 0; s < samples; ++s) of_stream += Shard{i, count}.has(s) ? 1 : 0;
      }
      EXPECT_EQ(all, Ranges(0, samples));
      EXPECT_LE(most - least, 1);
      EXPECT_EQ(of_stream, samples);
    }
}

TEST(Shard, Words) {
  EXPECT_EQ(parse_shard("3/8"), (Shard{3, 8}));
  for (const char* text : {"", "3", "8/8", "-1/8", "0/0", "a/b", "1/8x", "1//8"})
    EXPECT_THROW(parse_shard(text), Error) << text;
}

TEST(Shard, OfEnvironments) {
  const std::tuple<Variables, const char*, Shard> cases[] = {
      {{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}, "Open MPI", {1, 2}},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}, "MPI (PMI)", {0, 4}},
      {{{"SLURM_ARRAY_TASK_ID", "7"},
        {"SLURM_ARRAY_TASK_COUNT", "3"},
        {"SLURM_ARRAY_TASK_MIN", "3"},
        {"SLURM_ARRAY_TASK_STEP", "2"},
        {"SLURM_PROCID", "0"},
        {"SLURM_NTASKS", "1"}},
       "a Slurm job array",
       {2, 3}},
      {{{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}}, "Slurm", {5, 8}},
      {{{"SGE_TASK_ID", "2"}, {"SGE_TASK_FIRST", "1"}, {"SGE_TASK_LAST", "10"}, {"SGE_TASK_STEPSIZE", "1"}},
       "a Grid Engine job array",
       {1, 10}},
      {{{"SGE_TASK_ID", "undefined"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, "MPI (PMI)", {1, 2}},
  };
  for (const auto& [variables, origin, shard] : cases) {
    const auto found = shard_of_environment(environment_of(variables), std::nullopt);
    ASSERT_TRUE(found) << origin;
    EXPECT_EQ(found->origin, origin);
    EXPECT_EQ(found->shard, shard) << origin;
  }
  EXPECT_FALSE(shard_of_environment(environment_of({}), std::nullopt));
}

TEST(Shard, OfIndexedJobsNeedACount) {
  const Environment job = environment_of({{"JOB_COMPLETION_INDEX", "3"}});
  EXPECT_EQ(shard_of_environment(job, 4)->shard, (Shard{3, 4}));
  EXPECT_THROW(shard_of_environment(job, std::nullopt), Error);
  EXPECT_THROW(shard_of_environment(job, 3), Error);
}

TEST(Shard, OnlyMpiNeedsNoOption) {
  EXPECT_EQ(shard_of_mpi(environment_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}))->shard, (Shard{1, 2}));
  EXPECT_FALSE(shard_of_mpi(environment_of({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})));
  EXPECT_FALSE(shard_of_mpi(environment_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}})));
}

}  // namespace
}  // namespace assay::eval::shard_test
