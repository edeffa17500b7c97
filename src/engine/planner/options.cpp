#include "engine/planner/options.h"

#include <algorithm>
#include <new>

#include "analysis/stored_weights.h"
#include "naming/origins.h"

namespace assay::engine {

class OptionMaker::MadeProblem final : public Problem {
 public:
  MadeProblem(const Region& region, OptionMaker& maker, std::string_view variant)
      : Problem(region, maker.model_, maker.config_, variant), maker_(maker) {}
  const Shape* shape(const Value* v) const override { return maker_.shape_of(v); }
  const QuantizedConstant* quantized_constant(const Value* v) const override {
    return maker_.quantized_constant(v);
  }

 private:
  OptionMaker& maker_;
};

OptionMaker::OptionMaker(const Model& model, const TacticConfig& config, const TacticRules& rules,
                         const TypeHolds* holds)
    : model_(model), config_(config), rules_(rules), holds_(holds) {}

const Shape* OptionMaker::shape_of(const Value* v) {
  if (v == nullptr || !v->type.is_tensor()) return nullptr;
  auto it = shapes_.find(v);
  if (it == shapes_.end())
    it = shapes_.emplace(v, v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt).first;
  return it->second ? &*it->second : nullptr;
}

const QuantizedConstant* OptionMaker::quantized_constant(const Value* v) {
  if (config_.quantized == nullptr || v == nullptr || !v->tensor().defined()) return nullptr;
  if (const auto known = quantized_.find(v); known != quantized_.end()) return known->second;
  const auto it = config_.quantized->find(v->name());
  // A pass may have put other numbers under the name.
  const QuantizedConstant* found =
      it != config_.quantized->end() && it->second.dequantized().identical(v->tensor().aligned())
          ? &it->second
          : nullptr;
  quantized_.emplace(v, found);
  return found;
}

/// Only kernels on whole tensors can take what has no memory of a known size. Empty when there is none of it.
std::string OptionMaker::refuse_unknown(const Candidate& c, const TacticDef& tactic) {
  if (tactic.factory.create_tensor != nullptr) return {};
  const auto is_unknown = [&](const Value* v) {
    return v != nullptr && !v->tensor().defined() &&
           (shape_of(v) == nullptr || bit_width(v->type.dtype) == 0);
  };
  const char* reason = "the shape of an operand is not known before the run";
  for (const Candidate::Operand& o : c.inputs)
    if (is_unknown(o.value)) return reason;
  for (const Candidate::View& v : c.views)
    if (is_unknown(v.source)) return reason;
  return {};
}

/// Why rules leave an option out; empty: they do not.
std::string OptionMaker::excluded(const Region& region, const Option& option,
                                  const std::vector<std::string>& pins) const {
  const std::string name = option.name();
  const auto is_named = [&](const std::string& given) {
    return given == option.tactic->name || given == name;
  };
  if (std::any_of(rules_.disabled.begin(), rules_.disabled.end(), is_named))
    return fmt::format("{} is disabled", name);
  if (option.candidate.numerics > rules_.most_lowered)
    return fmt::format("{} rounds more than is allowed", name);
  if (option.candidate.step.scratch_bytes > rules_.most_scratch)
    return fmt::format("{} needs {} bytes of scratch memory, the limit is {}", name,
                       option.candidate.step.scratch_bytes, rules_.most_scratch);
  if (!pins.empty() && !std::all_of(pins.begin(), pins.end(), is_named))
    return fmt::format("{} is pinned", pins.front());
  if (holds_ != nullptr) return holds_->refusal(region, option.candidate);
  return {};
}

namespace {

/// What rules name for a region's nodes.
struct NamedTactics {
  std::vector<std::string> pins, wishes;

  bool is_wished(const std::string& name) const {
    return !wishes.empty() &&
           std::all_of(wishes.begin(), wishes.end(), [&](const std::string& w) { return w == name; });
  }
};

NamedTactics named_tactics(const Region& region, const TacticRules& rules) {
  NamedTactics named;
  if (rules.pinned.empty() && rules.preferred.empty()) return named;
  for (const Node* n : region.nodes)
    for (const std::string& origin : origins_of(*n)) {
      if (const auto it = rules.pinned.find(origin); it != rules.pinned.end() && !is_beside(*n))
        named.pins.push_back(it->second);
      if (const auto it = rules.preferred.find(origin); it != rules.preferred.end())
        named.wishes.push_back(it->second);
    }
  return named;
}

/// Adds a tactic's candidates, or returns why there are none.
std::string ask(const TacticDef& tactic, const Problem& problem, Proposals& proposals) {
  try {
    return tactic.ask(problem, proposals);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return fmt::format("its library refuses ({})", e.what());
  }
}

}  // namespace

RegionOptions OptionMaker::options_of(const Region& region) { return options_of(region, {}); }

RegionOptions OptionMaker::options_of(const Region& region, std::string_view name) {
  RegionOptions result;
  const size_t end = std::min(name.find(':'), name.size());
  const std::string_view wanted = name.substr(0, end), variant = name.substr(std::min(end + 1, name.size()));
  const NamedTactics named = named_tactics(region, rules_);
  const MadeProblem problem(region, *this, variant);
  for (const TacticDef* tactic : tactics_of(rules_).for_region(region, model_)) {
    if (!name.empty() && tactic->name != wanted) continue;
    Proposals proposals;
    std::string reason = ask(*tactic, problem, proposals);
    for (Candidate& c : proposals.candidates()) {
      std::string refusal = refuse_unknown(c, *tactic);
      Option option{.tactic = tactic, .candidate = std::move(c)};
      if (!name.empty() && option.name() != name) continue;
      if (refusal.empty()) refusal = excluded(region, option, named.pins);
      option.is_preferred = named.is_wished(option.name());
      if (refusal.empty())
        result.options.push_back(std::move(option));
      else
        result.refusals.push_back({option.name(), std::move(refusal)});
    }
    if (proposals.candidates().empty())
      result.refusals.push_back({std::string(tactic->name), std::move(reason)});
  }
  if (name.empty() && named.pins.empty() && can_read_stored(region, result)) keep_stored(result);
  return result;
}

bool OptionMaker::can_read_stored(const Region& region, const RegionOptions& found) {
  if (!is_kept_stored(region.main->input(1))) return false;
  if (std::any_of(found.options.begin(), found.options.end(),
                  [](const Option& o) { return o.candidate.reads_stored; }))
    return true;
  if (region.kind == RegionKind::kNode) return false;
  const auto [it, is_new] = reads_stored_.try_emplace(region.main, false);
  if (is_new) {
    const Region alone = node_region(*region.main);
    it->second = can_read_stored(alone, options_of(alone));
  }
  return it->second;
}

void OptionMaker::keep_stored(RegionOptions& found) {
  std::erase_if(found.options, [&](const Option& o) {
    if (!o.candidate.reads_stored)
      found.refusals.push_back({o.name(), "the weights stay in the few bits that the model stores"});
    return !o.candidate.reads_stored;
  });
}

}  // namespace assay::engine
