// From ONNX files to Models.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/graph.h"

namespace assay {

struct ImportOptions {
  /// Folder of external data files; empty: the model's own folder. Locations may not leave it.
  std::string external_data_dir;
  /// Leave external initializers without data (Value::set_missing) instead of mapping their files.
  bool ignore_external_data = false;
  /// Leave nodes in the order of the file instead of a topological one (TopologicalScope makes up for it): to
  /// show the file as it is. Cycles are refused all the same.
  bool keep_node_order = false;
  /// Accept initializers whose data were stripped (assay surgeon weight-strip); they are left without data.
  bool allow_weightless = false;
};

/// Reads a model; tensor data stay views of the mapped files. Throws Error naming the file, and the node,
/// value or byte offset, and the rule that is broken: damaged bytes, a cycle or nodes out of order, names
/// defined twice or not at all, unknown element types, initializers whose size contradicts their shape,
/// subgraphs inside each other beyond onnx::kMaxGraphDepth (the limit of every protobuf reader), external
/// data that are missing, short or outside the folder.
std::shared_ptr<Model> load_model(const std::string& path, const ImportOptions& options = {});

/// The same for bytes in memory, kept alive by `owner`. `name` stands for the file in messages; external data
/// are looked for in options.external_data_dir.
std::shared_ptr<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                                   const std::string& name, const ImportOptions& options = {});

}  // namespace assay
