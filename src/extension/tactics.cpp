// Tactics of modules: plugins that become steps of plans.
#include <algorithm>
#include <deque>
#include <sstream>

#include "engine/runtime/step_reader.h"
#include "extension/extension.h"
#include "extension/host.h"

namespace assay::extension {
namespace {

using engine::Candidate;
using engine::Kernel;
using engine::KernelArgs;
using engine::Layout;
using engine::Plan;
using engine::PlanValue;
using engine::Problem;
using engine::Status;
using engine::Step;
using engine::StepReader;

struct StepFields {
  size_t operands = 0;    ///< inputs, then outputs
  std::string data = {};  ///< the plugin's own
  std::string way = {};
  std::vector<int64_t> blocks = {};  ///< of each operand's channels; 0: row-major

  void fields(engine::FieldVisitor& visit) {
    visit("data", data);
    visit("way", way);
    visit("blocks", blocks, operands, {0, 16});
  }
};

/// A plugin, ended with its owner.
class Plugin {
 public:
  Plugin(const Extension& extension, const AssayTactic& tactic) : extension_(extension), tactic_(tactic) {}
  ~Plugin() {
    if (plugin_ == nullptr) return;
    try {
      extension_.call("ended a plugin", [&] { return tactic_.destroy(plugin_), 0; });
    } catch (const Error&) {
      // There is no one left to report to.
    }
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  void** place() { return &plugin_; }
  void* get() const { return plugin_; }

 private:
  const Extension& extension_;
  const AssayTactic& tactic_;
  void* plugin_ = nullptr;
};

std::vector<AssayTensor> describe_all(std::span<const std::pair<DType, Shape>> list) {
  std::vector<AssayTensor> tensors;
  for (const auto& [dtype, shape] : list)
    tensors.push_back(dtype == DType::kUndefined ? AssayTensor{} : describe(dtype, shape));
  return tensors;
}
using Operands = std::vector<std::pair<DType, Shape>>;

class ModuleTactic;

class ModuleKernel final : public Kernel {
 public:
  ModuleKernel(const ModuleTactic& tactic, const Plan& plan, const Step& step);
  Status run(const KernelArgs& args) noexcept override;

 private:
  const ModuleTactic& tactic_;
  Plugin plugin_;
  Operands inputs_, outputs_;
  std::vector<AssayTensor> tensors_;  // of the inputs, whose data are set for each run
  std::vector<size_t> bytes_;
};

class ModuleTactic final : public engine::CustomTactic {
 public:
  ModuleTactic(std::shared_ptr<Extension> extension, const AssayTactic& tactic)
      : extension_(std::move(extension)), tactic_(tactic) {
    std::istringstream names(tactic_.operators);
    for (std::string name; names >> name;) names_.push_back(name);
    operators_.assign(names_.begin(), names_.end());
    def_ = {.name = tactic_.name,
            .summary = tactic_.summary != nullptr ? tactic_.summary : "",
            .version = tactic_.version,
            .operators = operators_,
            .factory = {.maker = this},
            .custom = this};
  }
  const engine::TacticDef& def() const { return def_; }
  const Extension& extension() const { return *extension_; }
  const AssayTactic& module() const { return tactic_; }

  std::string propose(const Problem& p, engine::Proposals& proposals) const override;
  std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) const override {
    return std::make_unique<ModuleKernel>(*this, plan, step);
  }

 private:
  std::shared_ptr<Extension> extension_;
  AssayTactic tactic_;
  std::vector<std::string> names_;
  std::vector<std::string_view> operators_;
  engine::TacticDef def_;
};

/// Reads the operands of a node; a sentence that says why where a plugin cannot be given them.
std::string read_operands(const Problem& p, Operands& inputs, Operands& outputs) {
  for (size_t i = 0; i < p.input_count(); ++i) {
    if (p.has_input(i) && p.input_shape(i) == nullptr)
      return "the shape of an input is not known before the run";
    inputs.emplace_back(p.has_input(i) ? p.input_dtype(i) : DType::kUndefined,
                        p.has_input(i) ? *p.input_shape(i) : Shape());
  }
  for (size_t i = 0; i < p.output_count(); ++i) {
    if (p.node().output(i) == nullptr) return "an output is left out";
    if (p.output_shape(i) == nullptr) return "the shape of an output is not known before the run";
    outputs.emplace_back(p.output_dtype(i), *p.output_shape(i));
  }
  for (const Operands* list : {&inputs, &outputs})
    for (const auto& [dtype, shape] : *list)
      if (dtype == DType::kString || (dtype != DType::kUndefined && bit_width(dtype) % 8 != 0))
        return "an operand has strings, or elements of less than a byte";
  return {};
}

/// How a plugin can run a node, and itself in bytes.
struct Offer {
  AssayWays ways;
  std::vector<int64_t> scratch;  ///< bytes of each way
  AssayBytes bytes;
};

int32_t ask_plugin(const AssayTactic& tactic, void* plugin, const Operands& inputs, const Operands& outputs,
                   Offer& offer) {
  const std::vector<AssayTensor> ins = describe_all(inputs), outs = describe_all(outputs);
  if (const int32_t failed =
          tactic.ways(plugin, ins.data(), ins.size(), outs.data(), outs.size(), &offer.ways);
      failed != 0)
    return failed;
  for (const AssayWays::Way& way : offer.ways.ways) {
    offer.scratch.push_back(
        tactic.workspace == nullptr
            ? 0
            : tactic.workspace(plugin, ins.data(), ins.size(), outs.data(), outs.size(), way.name.c_str()));
    if (offer.scratch.back() < 0) return -1;
  }
  return tactic.serialize(plugin, &offer.bytes);
}

/// Only float32 images have channels in blocks.
bool may_be_blocked(const Operands& operands, std::span<const int32_t> blocks) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto& [dtype, shape] = operands[i];
    if (blocks[i] != 0 && (dtype != DType::kFloat32 || shape.size() < 3)) return false;
  }
  return true;
}

std::string ModuleTactic::propose(const Problem& p, engine::Proposals& proposals) const {
  Operands inputs, outputs;
  if (std::string reason = read_operands(p, inputs, outputs); !reason.empty()) return reason;
  Plugin plugin(*extension_, tactic_);
  try {
    extension_->call("looked at a node",
                     [&] { return tactic_.create(tactic_.self, handle(&p.node()), plugin.place()); });
  } catch (const Error& e) {
    return e.message();
  }
  Offer offer;
  extension_->call("told how it runs a node",
                   [&] { return ask_plugin(tactic_, plugin.get(), inputs, outputs, offer); });
  for (size_t w = 0; w < offer.ways.ways.size(); ++w) {
    const AssayWays::Way& way = offer.ways.ways[w];
    std::vector<int32_t> blocks = way.blocks;
    blocks.resize(inputs.size() + outputs.size(), 0);
    const std::span<const int32_t> of_inputs = std::span(blocks).first(inputs.size()),
                                   of_outputs = std::span(blocks).subspan(inputs.size());
    if (!may_be_blocked(inputs, of_inputs) || !may_be_blocked(outputs, of_outputs)) continue;
    Candidate& c = proposals.add(way.name, static_cast<engine::NumericsClass>(tactic_.numerics));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (p.has_input(i))
        c.add_input(p.node().input(i), Layout{of_inputs[i]});
      else
        c.skip_input();
    for (size_t i = 0; i < outputs.size(); ++i) c.add_output(p.node().output(i), Layout{of_outputs[i]});
    c.step.scratch_bytes = offer.scratch[w];
    c.write(StepFields{.data = offer.bytes.data, .way = way.name, .blocks = {blocks.begin(), blocks.end()}});
    c.estimate = way.seconds;
  }
  return proposals.candidates().empty() ? "it has no way to run these shapes and types" : "";
}

ModuleKernel::ModuleKernel(const ModuleTactic& tactic, const Plan& plan, const Step& step)
    : tactic_(tactic), plugin_(tactic.extension(), tactic.module()) {
  const StepReader r(plan, step, 0, StepReader::kAnyNumber, StepReader::kAnyNumber);
  const auto p = r.read(StepFields{step.inputs.size() + step.outputs.size()});
  const auto operand = [&](bool is_there, const auto& get, size_t position) -> std::pair<DType, Shape> {
    if (!is_there) return {DType::kUndefined, Shape()};
    const PlanValue& v = get();
    StepReader::check(v.layout == Layout{static_cast<int32_t>(p.blocks[position])},
                      "an operand is {}, not as the plugin wants it", v.layout.str());
    return {v.dtype, v.shape};
  };
  for (size_t i = 0; i < step.inputs.size(); ++i)
    inputs_.push_back(operand(
        r.has_input(i), [&]() -> const PlanValue& { return r.any_input(i); }, i));
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    StepReader::check(r.has_output(i), "output {} is left out", i);
    outputs_.push_back(operand(
        true, [&]() -> const PlanValue& { return r.any_output(i); }, step.inputs.size() + i));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) bytes_.push_back(r.has_input(i) ? r.any_input(i).bytes() : 0);
  const std::string &data = p.data, &way = p.way;
  const AssayTactic& module = tactic.module();
  int64_t scratch = 0;
  tactic.extension().call("made a plugin from a plan", [&] {
    if (const int32_t failed = module.deserialize(module.self, data.data(), data.size(), plugin_.place());
        failed != 0)
      return failed;
    const std::vector<AssayTensor> ins = describe_all(inputs_), outs = describe_all(outputs_);
    if (module.configure != nullptr)
      if (const int32_t failed =
              module.configure(plugin_.get(), ins.data(), ins.size(), outs.data(), outs.size(), way.c_str());
          failed != 0)
        return failed;
    if (module.workspace != nullptr)
      scratch =
          module.workspace(plugin_.get(), ins.data(), ins.size(), outs.data(), outs.size(), way.c_str());
    return scratch < 0 ? -1 : 0;
  });
  r.check_scratch(scratch);
  for (const auto& [dtype, shape] : inputs_)
    tensors_.push_back(dtype == DType::kUndefined ? AssayTensor{}
                                                  : AssayTensor{.dtype = static_cast<int32_t>(dtype),
                                                                .rank = shape.rank(),
                                                                .dims = shape.dims().data()});
}

Status ModuleKernel::run(const KernelArgs& args) noexcept {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].data = args.inputs[i];
    tensors_[i].bytes = bytes_[i];
  }
  try {
    tactic_.extension().call("ran a plugin", [&] {
      return tactic_.module().enqueue(plugin_.get(), tensors_.data(), tensors_.size(), args.outputs.data(),
                                      args.outputs.size(), args.scratch);
    });
    return Status::kOk;
  } catch (const Error&) {
    return Status::kKernelFailed;
  } catch (const std::bad_alloc&) {
    return Status::kOutOfMemory;
  }
}

}  // namespace

void add_tactics(const std::shared_ptr<Extension>& extension, engine::TacticSet& tactics) {
  for (const AssayTactic& t : extension->tactics()) {
    const auto tactic = std::make_shared<ModuleTactic>(extension, t);
    tactics.add(tactic->def(), tactic);
  }
}

}  // namespace assay::extension
