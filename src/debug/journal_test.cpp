#include "debug/journal.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "assay/error.h"
#include "base/temporary_folder.h"

namespace assay::debug::journal_test {
namespace {

const SearchIdentity kSearch = {{"model", "a.onnx"}, {"check", "run \"it\""}};

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string error_of(const std::string& path, const SearchIdentity& identity = kSearch) {
  try {
    Journal::resume(path, identity);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Journal, GoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::string path = folder / "j";
  {
    Journal journal = Journal::begin(path, kSearch);
    journal.add("nodes 1-3", {.kind = AnswerKind::kFailure, .failure = "exit code 1: 'x'", .seconds = 0.5});
    journal.add("nodes 1", {});
  }
  // A process that was killed while it wrote.
  const std::string whole = read(path);
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    std::ofstream(path, std::ios::trunc) << whole.substr(0, cut);
    Journal journal = Journal::resume(path, kSearch);
    const size_t lines = static_cast<size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
    EXPECT_EQ(journal.size(), lines == 0 ? 0 : lines - 1) << cut;
    journal.add("more", {.kind = AnswerKind::kTimeOut});
    EXPECT_NE(Journal::resume(path, kSearch).find("more"), nullptr) << cut;
  }
  std::ofstream(path, std::ios::trunc) << whole;
  const Journal journal = Journal::resume(path, kSearch);
  EXPECT_EQ(journal.find("nodes 1-3")->kind, AnswerKind::kFailure);
  EXPECT_EQ(journal.failure(), "exit code 1: 'x'");
  EXPECT_TRUE(journal.find("nodes 1")->passed());
  EXPECT_EQ(journal.find("nodes 2"), nullptr);
}

TEST(Journal, MayStayInMemory) {
  Journal journal = Journal::in_memory();
  journal.add("nodes 1", {.kind = AnswerKind::kFailure, .failure = "exit code 1"});
  ASSERT_NE(journal.find("nodes 1"), nullptr);
  EXPECT_EQ(journal.find("nodes 2"), nullptr);
  EXPECT_EQ(journal.failure(), "exit code 1");
  EXPECT_EQ(journal.path(), "");
}

TEST(Journal, KeepsWhatWasMeasured) {
  const TemporaryFolder folder;
  const std::map<std::string, double> measures = {{"decibels", std::numeric_limits<double>::infinity()},
                                                  {"absolute", 1.2345678901234567e-9},
                                                  {"relative", -std::numeric_limits<double>::infinity()}};
  Journal::begin(folder / "j", kSearch).add("a", {.measures = measures});
  EXPECT_EQ(Journal::resume(folder / "j", kSearch).find("a")->measures, measures);
}

TEST(Journal, AnotherSearchIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "j";
  Journal::begin(path, kSearch);
  SearchIdentity other = kSearch;
  other[0].second = "b.onnx";
  EXPECT_NE(error_of(path, other).find("model is 'a.onnx' there, and 'b.onnx' now"), std::string::npos)
      << error_of(path, other);
  std::ofstream(folder / "text") << "something else\n";
  EXPECT_NE(error_of(folder / "text").find("is no journal"), std::string::npos);
  EXPECT_EQ(read(folder / "text"), "something else\n");
  std::ofstream(path, std::ios::app) << "{\"question\": 7}\n";
  EXPECT_NE(error_of(path).find("damaged"), std::string::npos);
}

TEST(Journal, WhereNothingCanBeWrittenIsSaid) {
  EXPECT_THROW(Journal::begin("/no/such/folder/j", kSearch), Error);
}

}  // namespace
}  // namespace assay::debug::journal_test
