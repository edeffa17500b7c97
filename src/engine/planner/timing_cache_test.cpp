#include "assay/timing_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "assay/error.h"

namespace assay::timing_cache_test {
namespace {

TEST(TimingCache, ReadsWhatItWrites) {
  TimingCache cache("here");
  cache.set("conv a", 1.25e-3);
  cache.set("conv \"b\"\n", 2e-9);
  TimingCache copy("here");
  copy.read(cache.str(), "cache");
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_EQ(copy.find("conv a"), cache.find("conv a"));
  EXPECT_EQ(copy.find("conv \"b\"\n"), cache.find("conv \"b\"\n"));
  EXPECT_FALSE(copy.find("conv c"));
  EXPECT_EQ(copy.str(), cache.str());
}

TEST(TimingCache, TimesFromMemoryAreThoseOfTheFile) {
  TimingCache cache("here"), copy("here");
  cache.set("a", 1.0 / 3);
  copy.read(cache.str(), "cache");
  EXPECT_EQ(cache.find("a"), copy.find("a"));
}

TEST(TimingCache, OtherEnvironmentsAreKeptButNotUsed) {
  TimingCache there("there"), here("here");
  there.set("a", 1);
  here.read(there.str(), "cache");
  EXPECT_FALSE(here.find("a"));
  EXPECT_EQ(here.size(), 0U);
  EXPECT_EQ(here.foreign_size(), 1U);
  here.set("a", 2);
  TimingCache again("there");
  again.read(here.str(), "cache");
  EXPECT_EQ(again.find("a"), 1);
}

TEST(TimingCache, MergingTakesTheOthersTimes) {
  TimingCache a("here"), b("here");
  a.set("x", 1);
  a.set("y", 1);
  b.set("y", 2);
  b.set("z", 2);
  a.merge(b);
  EXPECT_EQ(a.size(), 3U);
  EXPECT_EQ(a.find("y"), 2);
}

TEST(TimingCache, DamagedFilesAreRefusedWhole) {
  TimingCache good("here");
  good.set("a", 1);
  const std::string text = good.str();
  for (const std::string& bad :
       {std::string("{}"), std::string("[]"), text.substr(0, text.size() / 2),
        std::string(R"({"format": "assay timing cache", "version": 2, "nanoseconds": {}})"),
        std::string(R"({"format": "other", "version": 1, "nanoseconds": {}})"),
        std::string(R"({"nanoseconds": {}, "format": "assay timing cache", "version": 1})"),
        std::string(R"({"format": "assay timing cache", "version": 1, "nanoseconds": {"here": {"a": -1}}})"),
        std::string(
            R"({"format": "assay timing cache", "version": 1, "nanoseconds": {"here": {"a": 1, "b": "x"}}})"),
        std::string(R"({"format": "assay timing cache", "version": 1, "nanoseconds": {"here": {"a": 1.5}}})"),
        std::string(R"({"format": "assay timing cache", "version": 1, "surprise": 1})")}) {
    TimingCache cache("here");
    EXPECT_THROW(cache.read(bad, "bad.cache"), Error) << bad;
    EXPECT_EQ(cache.size(), 0U) << bad;
    try {
      cache.read(bad, "bad.cache");
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("bad.cache"), std::string::npos) << e.what();
    }
  }
}

TEST(TimingCache, ChangedBytesNeverCrash) {
  TimingCache good("here");
  for (int i = 0; i < 20; ++i) good.set("problem " + std::to_string(i), 1e-6 * i);
  const std::string text = good.str();
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bad = text;
    for (unsigned k = 0; k <= random() % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    TimingCache cache("here");
    try {
      cache.read(bad, "cache");
    } catch (const Error&) {
      EXPECT_EQ(cache.size() + cache.foreign_size(), 0U);
    }
  }
}

TEST(TimingCache, FilesAppearWhole) {
  const std::string path = testing::TempDir() + "timing_cache_test.json";
  TimingCache cache("here");
  cache.set("a", 1);
  cache.save(path);
  TimingCache copy("here");
  copy.load(path);
  EXPECT_EQ(copy.find("a"), 1);
  std::filesystem::remove(path);
  EXPECT_THROW(copy.load(path), Error);
}

}  // namespace
}  // namespace assay::timing_cache_test
