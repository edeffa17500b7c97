// Generated models: well-known architectures, built layer by layer through the graph API, with seeded random
// weights.
//
// One line per model in templates.def, and one file per model next to it. A model's nodes are named as
// PyTorch's exporter names them and its weights by their state_dict keys, so reports read as they do for an
// exported checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "assay/graph.h"
#include "templates/model_template.h"

namespace assay {

/// In the order of templates.def.
std::span<const ModelTemplate* const> all_templates();

/// Throws Error (kNotFound) that names the templates whose names are nearest.
const ModelTemplate& find_template(std::string_view name);

/// Builds the model. Throws Error (kInvalidArgument) for a batch outside [1, kLargestTemplateBatch] and for
/// an opset that the template does not support.
std::shared_ptr<Model> build_template(const ModelTemplate& t, const TemplateOptions& options = {});

/// The statistics of a model that --list prints, counted on the built graph.
struct TemplateStatistics {
  /// Elements of the weights as PyTorch counts parameters: running statistics and exporter constants left
  /// out.
  int64_t parameters = 0;
  /// Multiply-accumulates of Conv, ConvTranspose, Gemm, MatMul and LSTM for one run; other operators are not
  /// counted, nor what stands behind a shape that depends on the data, nor bodies of If, Loop and Scan.
  int64_t macs = 0;
  /// Bytes of the model as save_model() writes it.
  int64_t file_bytes = 0;

  /// The convention of --list: one multiply-accumulate is two operations.
  double gflops() const { return 2e-9 * static_cast<double>(macs); }
};

/// Builds the template without weights and counts; takes milliseconds. The batch must be a number. Errors as
/// build_template().
TemplateStatistics template_statistics(const ModelTemplate& t, const TemplateOptions& options = {});

}  // namespace assay
