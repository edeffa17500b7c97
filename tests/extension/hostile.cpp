// A module that does what the environment variable HOSTILE says, and that is never right.
#include <assay/extension.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace ext = assay::ext;

namespace {

bool is(const char* what) {
  const char* wanted = std::getenv("HOSTILE");
  return wanted != nullptr && std::string(wanted) == what;
}

struct AtLoad {
  AtLoad() {
    if (is("crash-at-load")) std::raise(SIGSEGV);
    if (is("hang-at-load"))
      for (volatile bool forever = true; forever;) {
      }
    if (is("throw-at-load")) throw 1;
  }
} at_load;

/// Throws, crashes or fails without a word where it is told to.
void misbehave(const std::string& place) {
  if (is((place + "-throws").c_str())) throw ext::Error("thrown in " + place);
  if (is((place + "-throws-int").c_str())) throw 42;
  if (is((place + "-crashes").c_str())) std::raise(SIGSEGV);
}

class Session : public ext::Session {
 public:
  ~Session() override {
    if (is("close-crashes")) std::raise(SIGSEGV);
  }
  void describe(ext::TensorInfos& infos) override {
    misbehave("describe");
    infos.add_input("x", is("wrong-input-type") ? ext::kInt64 : ext::kFloat32, ext::Dims{1, 3, 4});
    if (is("bad-dtype")) infos.add_output("y", 77, ext::Dims{1});
    if (is("bad-rank")) infos.add_output("y", ext::kFloat32, ext::Dims(1000, 1));
    infos.add_output("y", ext::kFloat32, ext::Dims{1, 3, 4});
  }
  double infer(const std::vector<ext::Tensor>& inputs, ext::Outputs& outputs) override {
    misbehave("infer");
    if (is("gives-nothing")) return 0;
    if (is("gives-too-much")) outputs.give(7, ext::kFloat32, {1});
    if (is("gives-huge")) outputs.give(0, ext::kFloat32, {1 << 30, 1 << 30, 1 << 30});
    if (is("gives-negative")) outputs.give(0, ext::kFloat32, {-5});
    outputs.give_copy(0, inputs[0]);
    return 0;
  }
};

class Runner : public ext::Runner {
 public:
  const char* name() const override {
    return is("bad-name")       ? "no name!"
           : is("null-name")    ? nullptr
           : is("known-runner") ? "onnxrt"
                                : "hostile";
  }
  const char* option() const override {
    return is("known-option") ? "--onnxrt" : is("bad-option") ? "hostile" : "--hostile";
  }
  const char* summary() const override { return "misbehaves"; }
  void probe() override {
    misbehave("probe");
    if (is("probe-refuses")) throw ext::Error("it needs a machine that nobody has");
  }
  std::unique_ptr<ext::Session> open(const ext::Model&, const std::string&, int,
                                     const ext::Args& args) override {
    misbehave("open");
    if (is("unknown-option")) args.text("--no-such-option");
    return std::make_unique<Session>();
  }
};

class Options : public ext::OptionGroup {
 public:
  const char* title() const override { return "Hostile"; }
  std::vector<ext::Option> options() const override {
    return {{.names = is("known-group-option") ? "--atol" : "--hostile-word", .help = "A word."}};
  }
  void validate(const ext::Args&) override { misbehave("validate"); }
};

class Loader : public ext::Loader {
 public:
  const char* name() const override { return "break_model"; }
  const char* option() const override { return "--break-model"; }
  void apply(ext::Model& model, const ext::Args&) override {
    misbehave("loader");
    // A cycle.
    const std::vector<ext::Node> nodes = model.graph().nodes();
    ext::Node first = nodes.front();
    first.set_inputs({nodes.back().output(0)});
  }
};

class Operator : public ext::Operator {
 public:
  const char* domain() const override { return is("standard-domain") ? "ai.onnx" : "test.hostile"; }
  const char* name() const override { return "Odd"; }
  const char* schema() const override {
    return is("bad-schema") ? "inn X: T" : "in X: T\nout Y: T\ntype T: float";
  }
  void infer(ext::InferContext& c) override {
    misbehave("op-infer");
    c.set_output(is("infer-no-output") ? 3 : 0, ext::kFloat32, c.input_dims(0));
  }
  void eval(ext::EvalContext& c) override {
    misbehave("op-eval");
    if (is("eval-gives-nothing")) return;
    c.outputs().give_copy(0, c.input(0));
  }
  int32_t error() const override { return ASSAY_CUSTOM_ERROR; }
  void bound(ext::EvalContext&, double, uint64_t, const ext::Tensor& y, double* bound) override {
    misbehave("op-bound");
    for (int64_t i = 0; i < y.size(); ++i) bound[i] = is("negative-bound") ? -1 : 0;
  }
  AssayOperatorFacts facts() const override {
    AssayOperatorFacts f{};
    f.elementwise = is("bad-arity") ? 2 : 1;
    if (is("bad-instruction")) f.instruction = "Misbehave";
    if (is("bad-arity")) f.instruction = "Relu";
    if (is("bad-moves")) f.moves = 99;
    return f;
  }
};

class Command : public ext::Command {
 public:
  const char* name() const override { return is("known-command") ? "run" : "misbehave"; }
  const char* summary() const override { return "Misbehave."; }
  int run(const ext::Args&) override {
    misbehave("command");
    return 0;
  }
};

class Postprocess : public ext::Postprocess {
 public:
  const char* name() const override { return is("known-postprocess") ? "top-3" : "odd_outputs"; }
  void apply(const std::vector<std::pair<std::string, ext::Tensor>>&, ext::Outputs&,
             const ext::Args&) override {
    misbehave("postprocess");
  }
};

class Comparison : public ext::Comparison {
 public:
  const char* name() const override { return is("known-comparison") ? "l2" : "odd_comparison"; }
  bool compare(const std::string&, const ext::Tensor&, const ext::Tensor&, const ext::Args&,
               std::string&) override {
    misbehave("compare");
    return true;
  }
};

}  // namespace

ASSAY_EXTENSION("hostile", "0", "Misbehaves", [](ext::Registry& r) {
  misbehave("register");
  r.add<Runner>();
  r.add<Options>();
  r.add<Loader>();
  r.add<Operator>();
  r.add<Command>();
  r.add<Postprocess>();
  r.add<Comparison>();
})
