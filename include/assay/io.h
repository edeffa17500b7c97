// Models from and to ONNX files, binary or in text form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/api.h"
#include "assay/graph.h"

namespace ASSAY_API assay {

struct ImportOptions {
  /// Folder of external data files; empty: the model's own folder. Locations may not leave it.
  std::string external_data_dir;
  /// Leave external initializers without data (Value::set_missing) instead of mapping their files.
  bool ignore_external_data = false;
  /// Leave nodes in the order of the file instead of a topological one (TopologicalScope compensates): to
  /// show the file unchanged. Cycles are still refused.
  bool keep_node_order = false;
  /// Accept initializers whose data were stripped (assay surgeon weight-strip); they are left without data.
  bool allow_weightless = false;
  /// The operator set of its nodes (Model::ops); null: the built-in one.
  std::shared_ptr<const OpSet> ops = {};
};

/// Reads a model; tensor data stay views of the mapped files. A file of text (onnx::is_text_model) is read as
/// ONNX's text form. Throws Error naming the file, and the node,
/// value or byte offset, and the rule that is broken: damaged bytes, a cycle or nodes out of order, names
/// defined twice or not at all, unknown element types, initializers whose size contradicts their shape,
/// subgraphs inside each other beyond onnx::kMaxGraphDepth (the limit of every protobuf reader), external
/// data that are missing, short, outside the folder or those of another model. A model that is replaced
/// during reading is read again.
std::shared_ptr<Model> load_model(const std::string& path, const ImportOptions& options = {});

/// load_model() for bytes in memory, kept alive by `owner` and not copied. `name` identifies the file in
/// messages; external data are looked for in options.external_data_dir.
std::shared_ptr<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                                   const std::string& name, const ImportOptions& options = {});

struct ExportOptions {
  /// Write initializers to a separate file next to the model.
  bool external_data = false;
  /// File name relative to the model's folder; empty: `<model file>.data`.
  std::string external_data_path;
  /// Smaller tensors stay in the model. Bytes.
  int64_t external_data_threshold = 1024;
  /// One file per tensor, named after it, instead of one file for all.
  bool one_file_per_tensor = false;
};

/// Writes the model atomically (AtomicFile), with its external data, whose file ends with an identifying mark
/// that the model refers to. Equal models give equal bytes; unchanged parts are written as they were read.
/// Data in external files next to the new model stay there, unless external data are requested. Models beyond
/// 2 GB always get external data, since no protobuf reader accepts such a file. A path
/// that ends in .onnxtxt or .txt gets ONNX's text form. Throws Error: kIo; kInvalidModel when subgraphs nest
/// deeper than onnx::kMaxGraphDepth, the limit of readers; kInvalidArgument when the replaced model's
/// data file would be left without a model, or a data file that is not its own replaced.
void save_model(const Model& model, const std::string& path, const ExportOptions& options = {});

/// The model as one protobuf message, tensor data included. Throws Error beyond 2 GB.
std::string serialize_model(const Model& model);

}  // namespace assay
