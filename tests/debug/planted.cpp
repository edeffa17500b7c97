// A module with faults for the searches of `debug` to find: what a node's name begins with says which.
#include <assay/extension.h>

#include <atomic>
#include <cmath>
#include <string>

namespace ext = assay::ext;

namespace {

bool begins_with(const std::string& name, const char* what) { return name.rfind(what, 0) == 0; }

/// Relu; but in `wrong` every third element is off by a quarter, in `flaky` only in one run of five.
class PlantedRelu : public ext::Plugin {
 public:
  explicit PlantedRelu(char kind) : kind_(kind) {}
  void serialize(std::string& bytes) const override { bytes.assign(1, kind_); }
  void ways(const std::vector<ext::Tensor>&, const std::vector<ext::Tensor>&, ext::Ways& ways) override {
    ways.add("plain", {}, 1e-12);
  }
  void configure(const std::vector<ext::Tensor>& inputs, const std::vector<ext::Tensor>&,
                 const std::string&) override {
    size_ = inputs[0].size();
  }
  void enqueue(const AssayTensor* inputs, uint64_t, void* const* outputs, uint64_t, void*) override {
    static std::atomic<int> runs = 0;
    const bool is_off = kind_ == 'w' || runs++ % 5 == 4;
    const auto* x = static_cast<const float*>(inputs[0].data);
    auto* y = static_cast<float*>(outputs[0]);
    for (int64_t i = 0; i < size_; ++i) y[i] = std::fmax(x[i], 0) + (is_off && i % 3 == 0 ? 0.25F : 0);
  }

 private:
  char kind_;
  int64_t size_ = 0;
};

class PlantedTactic : public ext::Tactic {
 public:
  const char* name() const override { return "planted_relu"; }
  const char* operators() const override { return "Relu"; }
  std::unique_ptr<ext::Plugin> create(const ext::Node& node) override {
    if (begins_with(node.name(), "wrong")) return std::make_unique<PlantedRelu>('w');
    if (begins_with(node.name(), "flaky")) return std::make_unique<PlantedRelu>('f');
    throw ext::Error("nothing is planted here");
  }
  std::unique_ptr<ext::Plugin> deserialize(std::string_view bytes) override {
    if (bytes.size() != 1) throw ext::Error("these bytes are no kind");
    return std::make_unique<PlantedRelu>(bytes[0]);
  }
};

/// LeakyRelu nodes called `guilty` get another slope.
class PlantedPass : public ext::Pass {
 public:
  const char* name() const override { return "planted_slope"; }
  const char* summary() const override { return "LeakyRelu nodes of one name get another slope"; }
  bool run(ext::Model& model) override {
    bool has_changed = false;
    for (ext::Node n : model.graph().nodes())
      if (n.op_type() == "LeakyRelu" && begins_with(n.name(), "guilty") &&
          n.number("alpha").value_or(0.01) < 0.5) {
        n.set("alpha", 0.75);
        has_changed = true;
      }
    return has_changed;
  }
};

}  // namespace

ASSAY_EXTENSION("planted", "1.0", "Faults for searches to find", [](ext::Registry& r) {
  r.add<PlantedTactic>();
  r.add<PlantedPass>();
})
