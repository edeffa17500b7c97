// From the model options of a command line to the models that backends run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "graph/import.h"
#include "run/model_saver.h"

namespace assay {

/// How messages call a backend: as it is chosen.
std::string backend_name(const Backend& backend);

struct ModelLoaderOptions {
  std::string path;
  bool is_plan = false;  ///< the file is an engine's plan: only what loads plans can run it
  /// Not empty: the file is of this other format, which only backends that take any file can run.
  std::string foreign_format;
  /// Makes the model in the place of the file (a network script); may be empty. Called for each copy that is
  /// needed.
  std::function<std::shared_ptr<Model>()> make;
  ImportOptions import;
  bool infer_shapes = false;                        ///< a model that is saved has the inferred shapes
  bool mark_all = false;                            ///< every tensor becomes an output
  std::optional<std::vector<std::string>> outputs;  ///< these tensors become the outputs
  std::vector<std::string>
      output_types;  ///< outputs of nodes with these operators, with `outputs` if there are any
  std::optional<std::vector<std::string>> exclude_outputs;
  /// Applied to the model as it was loaded, before anything else.
  std::vector<std::function<void(const std::shared_ptr<Model>&)>> edits;
  bool convert_to_fp16 = false;
  /// Looks at the model with all changes, before anything is made of it; may be empty. Throws Error.
  std::function<void(const Model&)> check;
  ModelSaveOptions save;
};

/// Shape inference for a user who asked for it: what cannot be inferred stays open, and with `report` the log
/// says where and why.
void infer_known_shapes(Model& model, bool report = true);

/// Loads the model when the first runner wants it and keeps it for the others.
class ModelLoader {
 public:
  explicit ModelLoader(ModelLoaderOptions options) : options_(std::move(options)) {}
  /// Of a model that has been changed and inferred already.
  ModelLoader(ModelLoaderOptions options, std::shared_ptr<const Model> model)
      : options_(std::move(options)), given_(std::move(model)) {}

  const ModelLoaderOptions& options() const { return options_; }
  /// Whether any option asks for a model other than the one in the file, or for a file read in another way,
  /// or the file is text, which only this program reads. If so, load_for() logs that it loads.
  bool changes_model() const;

  /// The model with all changes, saved the first time if that is asked for. For a backend that runs the graph
  /// itself it has the type and shape of every value that can be inferred. Throws Error; what the rules of an
  /// operator forbid names the node.
  ModelSource load_for(const Backend& backend);
  /// The model with all changes, for a question about it: nothing is logged and nothing saved.
  std::shared_ptr<Model> load_quietly() const { return read(/*report=*/false); }
  /// Names of the outputs that the file's model has, or that were asked for by name, as of the last load.
  const std::vector<std::string>& own_outputs() const { return own_outputs_; }

 private:
  /// The file's model with all changes; `report` says so in the log.
  std::shared_ptr<Model> read(bool report) const;
  void change_outputs(Model& model) const;
  void note_outputs(const Model& model) const;

  ModelLoaderOptions options_;
  std::shared_ptr<const Model> given_, model_, inferred_;
  mutable std::vector<std::string> own_outputs_;
};

}  // namespace assay
