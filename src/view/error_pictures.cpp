#include "view/error_pictures.h"

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/diagnostics.h"
#include "compare/report.h"
#include "view/error_plot.h"
#include "view/heatmap.h"
#include "view/svg.h"

namespace assay {
namespace {

std::string in_folder(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

void write_file(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

class ErrorPictureFiles : public ErrorPictures {
 public:
  ErrorPictureFiles(std::string heatmap_folder, std::string plot_folder)
      : heatmap_folder_(std::move(heatmap_folder)), plot_folder_(std::move(plot_folder)) {}

  void draw_errors(const OutputPair& pair, const ErrorArrays& errors) override {
    if (plot_folder_.empty()) return;
    diag::start("Building error metrics plot for {}. This may take a while...", pair.name0);
    const diag::Indent indent;
    const std::string path =
        in_folder(plot_folder_, picture_file_name("error_metrics_" + pair.name0, ".png"));
    const Image image =
        error_plot({"Error metrics between output0 and output1",
                    fmt::format("output0: {} | {}", name_column(pair.runner0), pair.name0),
                    fmt::format("output1: {} | {}", name_column(pair.runner1), pair.name1)},
                   errors.difference.absolute(), errors.difference.relative(), errors.reference);
    diag::info("Saving error metrics plot to: '{}'", path);
    write_file(path, encode_png(image));
  }

  void draw_heatmap(const std::string& title, const Numbers& errors, const Statistics&,
                    bool log_scale) override {
    if (heatmap_folder_.empty()) return;
    diag::start("Building heatmaps for {}. This may take a while...", title);
    const diag::Indent indent;
    const HeatmapFigures figures(title, errors, log_scale);
    for (int64_t i = 0; i < figures.count(); ++i) {
      const HeatmapFigure figure = figures.draw(i);
      diag::extra_verbose("Building heatmaps for {}", figure.title);
      const std::string path = in_folder(heatmap_folder_, picture_file_name(figure.title, ".svg"));
      diag::info("Saving '{}' heatmap to: '{}'", figures.name(), path);
      write_file(path, figure.svg);
    }
  }

 private:
  std::string heatmap_folder_, plot_folder_;
};

}  // namespace

std::shared_ptr<ErrorPictures> error_pictures(std::string heatmap_folder, std::string plot_folder) {
  return std::make_shared<ErrorPictureFiles>(std::move(heatmap_folder), std::move(plot_folder));
}

}  // namespace assay
