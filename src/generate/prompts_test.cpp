#include "generate/prompts.h"

#include <gtest/gtest.h>

#include <fstream>

#include "assay/tensor.h"
#include "base/temporary_folder.h"
#include "tensor/npy.h"

namespace assay::generate::prompts_test {
namespace {

class TokenFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
  }
  static void expect_refusal(const std::string& path, const std::string& part) {
    try {
      load_token_file(path);
      ADD_FAILURE() << path;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }

  TemporaryFolder folder;
};

TEST_F(TokenFiles, Text) {
  EXPECT_EQ(load_token_file(write("a.txt", "1, 2 3\n\n# nothing\n 4 # four\r\n5")),
            (std::vector<Tokens>{{1, 2, 3}, {4}, {5}}));
}

TEST_F(TokenFiles, BothFormsAreReadAgain) {
  const std::vector<Tokens> sequences = {{1, 2, 3}, {4}};
  for (const char* name : {"a.txt", "a.npy"}) {
    const std::string path = folder / name;
    save_token_file(sequences, path);
    EXPECT_EQ(load_token_file(path), sequences) << name;
  }
  save_npy(Tensor::vector<int32_t>({7, 8}), folder / "row.npy");
  EXPECT_EQ(load_token_file(folder / "row.npy"), (std::vector<Tokens>{{7, 8}}));
}

TEST_F(TokenFiles, Damaged) {
  expect_refusal(write("a.txt", "1 2\n3 x4"), "line 2 of");
  expect_refusal(write("b.txt", "1.5"), "'1.5' is not the number of a token");
  expect_refusal(write("c.txt", "99999999999999999999"), "is not the number of a token");
  expect_refusal(write("d.txt", "# nothing\n"), "holds no tokens");
  expect_refusal(write("e.txt", std::string("1\0", 2)), "is not the number of a token");
  expect_refusal(write("f.npy", "1 2 3"), "f.npy");
  save_npy(Tensor::vector<float>({1, 2}), folder / "g.npy");
  expect_refusal(folder / "g.npy", "not integers");
  save_npy(Tensor::vector<int64_t>({1, -1, 2}), folder / "h.npy");
  expect_refusal(folder / "h.npy", "behind the negative number");
  expect_refusal(folder / "missing.txt", "missing.txt");
}

}  // namespace
}  // namespace assay::generate::prompts_test
