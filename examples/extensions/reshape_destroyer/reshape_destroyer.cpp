// The example of docs/guide/extensions.md: a loader that replaces Reshape nodes that change nothing by
// Identity, a runner that knows Identity alone, and their options.
#include <assay/extension.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

namespace ext = assay::ext;

namespace {

constexpr const char* kRename = "--res-des-rename-nodes";
constexpr const char* kSpeed = "--res-des-speed";

// A loader changes models.

bool changes_nothing(const ext::Node& node) {
  if (node.op_type() != "Reshape" || !node.domain().empty()) return false;
  const ext::Value input = node.input(0), output = node.output(0);
  const auto from = input.dims(), to = output.dims();
  if (from && to && *from == *to && std::count(from->begin(), from->end(), ASSAY_UNKNOWN) == 0) return true;
  // Without known extents: a shape of zeros takes each extent from the input.
  const auto shape = node.input(1).tensor();
  if (!from || !shape || shape->dtype() != ext::kInt64 || shape->size() != static_cast<int64_t>(from->size()))
    return false;
  if (node.integer("allowzero").value_or(0) != 0) return false;
  const int64_t* extents = shape->data<int64_t>();
  for (size_t i = 0; i < from->size(); ++i)
    if (extents[i] != 0 && extents[i] != (*from)[i]) return false;
  return true;
}

/// Returns how many nodes were replaced.
int destroy_reshapes(ext::Model& model, bool renames) {
  model.infer_shapes();
  int replaced = 0;
  for (ext::Node node : model.graph().nodes()) {
    if (!changes_nothing(node)) continue;
    node.set_op_type("Identity");
    node.set_inputs({node.input(0)});
    node.remove_attribute("allowzero");
    if (renames) node.set_name(node.name() + "_destroyed");
    ++replaced;
  }
  model.clean_up();
  return replaced;
}

class ReshapeDestroyer : public ext::Loader {
 public:
  const char* name() const override { return "replace_reshapes"; }
  const char* summary() const override {
    return "Put Identity in the place of Reshape nodes that change nothing";
  }
  const char* option() const override { return "--replace-reshapes"; }
  void apply(ext::Model& model, const ext::Args& args) override {
    const int replaced = destroy_reshapes(model, args.has(kRename));
    ext::log(ext::Severity::kInfo, "Replaced " + std::to_string(replaced) + " Reshape node(s) by Identity");
  }
};

// A runner runs them.

class IdentitySession : public ext::Session {
 public:
  IdentitySession(ext::Model model, std::chrono::milliseconds pause)
      : model_(std::move(model)), pause_(pause) {
    for (const ext::Node& n : model_.graph().nodes())
      if (n.op_type() != "Identity")
        throw ext::Error("the node '" + n.name() + "' is a " + n.op_type() +
                         ", and this runner knows Identity alone. Run the model with --onnxrt.");
    // Every output is one of the inputs.
    const std::vector<ext::Value> inputs = model_.graph().inputs();
    for (ext::Value v : model_.graph().outputs()) {
      while (auto producer = v.producer()) v = producer->input(0);
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i] == v) sources_.push_back(i);
    }
    if (sources_.size() != model_.graph().outputs().size())
      throw ext::Error("an output of the model comes from no input");
  }

  void describe(ext::TensorInfos& infos) override { infos.add_all(model_.graph()); }

  double infer(const std::vector<ext::Tensor>& inputs, ext::Outputs& outputs) override {
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(pause_);
    for (size_t i = 0; i < sources_.size(); ++i) outputs.give_copy(i, inputs[sources_[i]]);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  ext::Model model_;
  std::chrono::milliseconds pause_;
  std::vector<size_t> sources_;
};

class IdentityRunner : public ext::Runner {
 public:
  const char* name() const override { return "reshape-destroyer"; }
  const char* option() const override { return "--res-des"; }
  const char* human_name() const override { return "Reshape Destroyer"; }
  const char* summary() const override {
    return "networks of Identity nodes, after Reshape nodes that change nothing were replaced";
  }

  std::unique_ptr<ext::Session> open(const ext::Model& model, const std::string& /*path*/, int /*threads*/,
                                     const ext::Args& args) override {
    ext::Model own = model.copy();
    destroy_reshapes(own, args.has(kRename));
    const std::map<std::string, int> pauses = {{"slow", 500}, {"medium", 250}, {"fast", 0}};
    return std::make_unique<IdentitySession>(
        own, std::chrono::milliseconds(pauses.at(args.text(kSpeed).value_or("fast"))));
  }
};

// Options belong to both.

class Options : public ext::OptionGroup {
 public:
  const char* title() const override { return "Reshape Destroyer"; }
  const char* description() const override {
    return "How Reshape nodes that change nothing are replaced, and how fast --res-des is.";
  }
  std::vector<ext::Option> options() const override {
    return {{.names = kRename, .help = "Rename the nodes that are replaced.", .arity = ASSAY_FLAG},
            {.names = kSpeed,
             .help = "How fast --res-des runs; default: fast.",
             .choices = {"slow", "medium", "fast"}}};
  }
  void validate(const ext::Args& args) override {
    if (args.has(kSpeed) && !args.has("--res-des"))
      throw ext::Error(std::string(kSpeed) + " is for --res-des, which is not given");
  }
};

}  // namespace

ASSAY_EXTENSION("reshape_destroyer", "1.0", "Replaces Reshape nodes that change nothing",
                [](ext::Registry& r) {
                  r.add<ReshapeDestroyer>();
                  r.add<IdentityRunner>();
                  r.add<Options>();
                })
