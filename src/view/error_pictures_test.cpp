#include "view/error_pictures.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/log.h"
#include "base/temporary_folder.h"
#include "compare/simple.h"
#include "console/comparison_text.h"

namespace assay::error_pictures_test {
namespace {

class ErrorPicturesTest : public testing::Test {
 protected:
  std::string compare(std::string heatmaps, std::string plots) {
    const log::Capture capture;
    ComparisonText text(error_pictures(std::move(heatmaps), std::move(plots)));
    const std::vector<std::shared_ptr<const Comparison>> functions = {
        std::make_shared<SimpleComparison>(SimpleOptions{})};
    compare_iteration(functions, OutputList("A", {{"a/y", Tensor::vector<float>({1, 2})}}),
                      OutputList("B", {{"a/y", Tensor::vector<float>({1, 3})}}), {}, text);
    return capture.out();
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

TEST_F(ErrorPicturesTest, WritesFilesAndSaysSo) {
  const std::string log = compare(folder_ + "/new/heat", folder_ + "/plots/");
  const auto expect_file = [&](const std::string& path) {
    EXPECT_GT(std::filesystem::file_size(path), 500u) << path;
    EXPECT_NE(log.find("to: '" + path + "'\n"), log.npos) << path << "\n" << log;
  };
  expect_file(folder_ + "/new/heat/Absolute Error | a_y: (0,0:1,0:2) to (0,0:1,0:2).svg");
  expect_file(folder_ + "/new/heat/Relative Error | a_y (Log Scale): (0,0:1,0:2) to (0,0:1,0:2).svg");
  expect_file(folder_ + "/plots/error_metrics_a_y.png");
  EXPECT_NE(log.find("[I]             Building error metrics plot for a/y. This may take a while...\n"),
            log.npos)
      << log;
  EXPECT_NE(log.find("[I]             Building heatmaps for Absolute Error | a/y. This may take a while...\n"
                     "[I]                 Saving 'Absolute Error | a/y' heatmap to: "),
            log.npos)
      << log;
  EXPECT_NE(log.find("[I]                 Saving 'Relative Error | a/y (Log Scale)' heatmap to: "), log.npos)
      << log;
}

TEST_F(ErrorPicturesTest, EachKindCanBeLeftOut) {
  EXPECT_EQ(compare("", folder_).find("heatmap"), std::string::npos);
  EXPECT_EQ(compare(folder_, "").find("plot"), std::string::npos);
  EXPECT_EQ(compare("", "").find("Building"), std::string::npos);
}

TEST_F(ErrorPicturesTest, AnUnwritablePlaceIsAnError) { EXPECT_THROW(compare("/dev/null/x", ""), Error); }

}  // namespace
}  // namespace assay::error_pictures_test
