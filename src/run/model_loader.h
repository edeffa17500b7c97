// Loads the models that backends run, by a command line's model options.
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

/// A backend's name in messages: its option.
std::string backend_name(const Backend& backend);

struct ModelLoaderOptions {
  std::string path;
  bool is_plan = false;  ///< the file is an engine's plan, for backends that load plans
  /// Not empty: the file is of this other format, which only backends that take any file can run.
  std::string foreign_format;
  /// Creates the model in place of the file (a network
  /// script); may be empty. Called for each copy.
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
  /// Validates the model with all changes, before it is used; may be empty. Throws Error.
  std::function<void(const Model&)> check;
  ModelSaveOptions save;
};

/// Shape inference requested by a user: unknown types stay open, and with `report` the log tells where and
/// why.
void infer_known_shapes(Model& model, bool report = true);

/// Loads the model for the first runner and keeps it for the others.
class ModelLoader {
 public:
  explicit ModelLoader(ModelLoaderOptions options) : options_(std::move(options)) {}
  /// For a model that is already changed and inferred.
  ModelLoader(ModelLoaderOptions options, std::shared_ptr<const Model> model)
      : options_(std::move(options)), given_(std::move(model)) {}

  const ModelLoaderOptions& options() const { return options_; }
  /// True when an option changes the model or the way it is read, or the file is text, which only this
  /// program reads. load_for() then logs the loading.
  bool changes_model() const;

  /// The model with all changes, saved the first time if requested. For a
  /// backend that runs the graph itself all possible types and shapes are
  /// inferred. Throws Error; a violated rule of an operator names the node.
  ModelSource load_for(const Backend& backend);
  /// The model with all changes, for queries: nothing is logged or saved.
  std::shared_ptr<Model> load_quietly() const { return read(/*report=*/false); }
  /// Names of the outputs of the file's model, or those requested by name, as of the last load.
  const std::vector<std::string>& own_outputs() const { return own_outputs_; }

 private:
  /// The file's model with all changes; `report` logs them.
  std::shared_ptr<Model> read(bool report) const;
  void change_outputs(Model& model) const;
  void note_outputs(const Model& model) const;

  ModelLoaderOptions options_;
  std::shared_ptr<const Model> given_, model_, inferred_;
  mutable std::vector<std::string> own_outputs_;
};

}  // namespace assay
