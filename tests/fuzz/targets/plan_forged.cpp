// Forged plans: an input is a seed plan and a list of changes of its values, steps, parameters
// and networks. They are written as a plan file with right checksums, loaded and run.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/tactics/tactic_set.h"
#include "fuzz/targets/plans.h"
#include "fuzz/targets/target.h"
#include "kernels/pointwise/program.h"

namespace assay::fuzz::target_plan_forged {
namespace {

using engine::Parameters;
using engine::Plan;
using engine::PlanValue;
using engine::Step;
using engine::Storage;

/// A change, as the input has it: what is changed, where, and to what.
struct Change {
  uint8_t kind, network;
  uint16_t place;
  uint8_t part, how;
  int16_t number;
};
static_assert(sizeof(Change) == 8);
constexpr size_t kChanges = 2;  ///< where they begin; before them stands the number of the seed

constexpr int64_t kLimits[] = {0,
                               1,
                               -1,
                               2,
                               7,
                               8,
                               15,
                               16,
                               17,
                               63,
                               64,
                               65,
                               255,
                               4096,
                               INT16_MAX,
                               1 << 16,
                               1 << 20,
                               INT32_MAX,
                               int64_t{1} << 31,
                               int64_t{1} << 32,
                               int64_t{1} << 40,
                               int64_t{1} << 56,
                               int64_t{1} << 62,
                               INT64_MAX,
                               INT64_MIN,
                               INT32_MIN};

/// A plan with copies of the plans in it, which may be changed.
std::shared_ptr<Plan> copy_of(const Plan& plan) {
  auto copy = std::make_shared<Plan>(plan);
  for (engine::PlanNetwork& n : copy->networks)
    if (n.plan != nullptr) n.plan = copy_of(*n.plan);
  return copy;
}

void collect(const Plan& plan, std::vector<Plan*>& plans) {
  plans.push_back(const_cast<Plan*>(&plan));  // of copy_of()
  for (const engine::PlanNetwork& n : plan.networks)
    if (n.plan != nullptr) collect(*n.plan, plans);
}

class Forger {
 public:
  Forger(Plan& plan, const Change& change) : plan_(plan), c_(change) {}

  void apply() {
    switch (c_.kind % 24) {
      case 0:
        return on_value([&](PlanValue& v) { number_of(v.shape); });
      case 1:
        return on_value([&](PlanValue& v) { v.dtype = some_type(); });
      case 2:
        return on_value([&](PlanValue& v) { v.offset = changed(v.offset); });
      case 3:
        return on_value([&](PlanValue& v) { v.slot = static_cast<int32_t>(changed(v.slot)); });
      case 4:
        return on_value(
            [&](PlanValue& v) { v.storage = static_cast<Storage>(static_cast<uint16_t>(c_.number) % 6); });
      case 5:
        return on_value(
            [&](PlanValue& v) { v.layout.block = v.layout.block == 0 ? (c_.number % 2 == 0 ? 8 : 16) : 0; });
      case 6:
        return on_value([&](PlanValue& v) { v.has_shape = !v.has_shape; });
      case 7:
        return on_value([&](PlanValue& v) { exchange(v.shape); });
      case 8:
        return on_step([&](Step& s) { number_of(s.inputs); });
      case 9:
        return on_step([&](Step& s) { number_of(s.outputs); });
      case 10:
        return on_step([&](Step& s) {
          s.inputs.empty() || c_.how % 2 == 0 ? s.inputs.push_back(-1) : s.inputs.pop_back();
        });
      case 11:
        return on_step([&](Step& s) {
          s.outputs.empty() || c_.how % 2 == 0 ? s.outputs.push_back(some_value()) : s.outputs.pop_back();
        });
      case 12:
        return on_step([&](Step& s) {
          s.tactic =
              engine::built_in_tactics().all()[c_.part % engine::built_in_tactics().all().size()]->name;
        });
      case 13:
        return on_step([&](Step& s) { s.parameters = some_step().parameters; });
      case 14:
        return on_step([&](Step& s) { s.scratch_bytes = changed(s.scratch_bytes); });
      case 15:
        return on_step([&](Step& s) { s.scratch_offset = changed(s.scratch_offset); });
      case 16:
        return on_step([&](Step& s) { in_place(s); });
      case 17:
        return on_step([&](Step& s) { placements(s); });
      case 18:
        return on_step([&](Step& s) { number_of(s.networks); });
      case 19:
        return steps();
      case 20:
        return interface();
      case 21:
        return everywhere();
      default:
        return on_step([&](Step& s) { parameter(s); });
    }
  }

 private:
  template <typename F>
  void on_value(F change) {
    if (!plan_.values.empty()) change(plan_.values[c_.place % plan_.values.size()]);
  }
  template <typename F>
  void on_step(F change) {
    if (!plan_.steps.empty()) change(plan_.steps[c_.place % plan_.steps.size()]);
  }
  Step& some_step() { return plan_.steps[static_cast<uint16_t>(c_.number) % plan_.steps.size()]; }
  int32_t some_value() const {
    return static_cast<int32_t>(static_cast<uint16_t>(c_.number) % (plan_.values.size() + 1)) - 1;
  }
  DType some_type() const {
    const auto number = static_cast<uint8_t>(c_.number);
    return is_known_dtype(number % 32) ? static_cast<DType>(number % 32) : DType::kInt64;
  }

  int64_t changed(int64_t old) const {
    switch (c_.how % 8) {
      case 0:
        return c_.number;
      case 1:
        return kLimits[static_cast<uint16_t>(c_.number) % std::size(kLimits)];
      case 2:
        return static_cast<int64_t>(static_cast<uint64_t>(old) + static_cast<uint64_t>(c_.number % 8));
      case 3:
        return static_cast<int64_t>(static_cast<uint64_t>(old) * 2);
      case 4:
        return old / 2;
      case 5:
        return static_cast<int64_t>(-static_cast<uint64_t>(old));
      case 6:
        return static_cast<int64_t>(static_cast<uint64_t>(old) + 64 * static_cast<uint64_t>(c_.number % 4));
      default:
        return static_cast<uint16_t>(c_.number) % 24;
    }
  }
  /// Numbers of a list: one changes, comes or goes.
  template <typename List>
  void number_of(List& list) const {
    using T = std::decay_t<decltype(list[0])>;
    std::vector<T> numbers(list.begin(), list.end());
    if (numbers.empty() || c_.how >= 240)
      numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(c_.part % (numbers.size() + 1)),
                     static_cast<T>(changed(1)));
    else if (c_.how >= 224)
      numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(c_.part % numbers.size()));
    else
      numbers[c_.part % numbers.size()] =
          static_cast<T>(changed(static_cast<int64_t>(numbers[c_.part % numbers.size()])));
    list = List(numbers);
  }
  template <typename List>
  void exchange(List& list) const {
    if (list.size() >= 2) std::swap(list[c_.part % list.size()], list[c_.how % list.size()]);
  }

  void in_place(Step& s) const {
    if (!s.in_place.empty() && c_.how % 2 == 0)
      s.in_place.pop_back();
    else
      s.in_place.emplace_back(c_.number % 3, c_.part % 6);
  }
  void placements(Step& s) const {
    if (s.placements.empty()) return s.placements.push_back({c_.part % 4, changed(0), c_.how % 2 == 0});
    Step::Placement& p = s.placements[c_.part % s.placements.size()];
    if (c_.how % 3 == 0)
      p.done = !p.done;
    else if (c_.how % 3 == 1)
      p.input = c_.number;
    else
      p.offset = changed(p.offset);
  }

  void steps() {
    if (plan_.steps.empty()) return;
    const size_t a = c_.place % plan_.steps.size(), b = static_cast<uint16_t>(c_.number) % plan_.steps.size();
    switch (c_.how % 4) {
      case 0:
        return std::swap(plan_.steps[a], plan_.steps[b]);
      case 1:
        plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(a));
        return;
      case 2:
        plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(a), Step(plan_.steps[b]));
        return;
      default:
        std::swap(plan_.steps[a].inputs, plan_.steps[b].inputs);
        std::swap(plan_.steps[a].outputs, plan_.steps[b].outputs);
    }
  }

  void interface() {
    switch (c_.part % 6) {
      case 0:
        return number_of(plan_.inputs);
      case 1:
        return number_of(plan_.outputs);
      case 2:
        plan_.arena_bytes = changed(plan_.arena_bytes);
        return;
      case 3:
        plan_.threads = static_cast<int>(changed(plan_.threads));
        return;
      case 4:
        return exchange(plan_.constants);
      default:
        if (plan_.constants.empty()) return;
        Tensor& t = plan_.constants[c_.place % plan_.constants.size()].tensor;
        if (t.dtype() == DType::kString || !t.defined()) return;
        // The bytes as something else: numbers of another type, or of another shape.
        const DType type = c_.how % 2 == 0 ? some_type() : t.dtype();
        if (bit_width(type) < 8) return;
        const auto n = static_cast<int64_t>(t.nbytes() / storage_bytes(type, 1));
        t = Tensor::view(type, {c_.how % 4 < 2 ? n : n / 2}, t.data(), std::make_shared<Tensor>(t));
    }
  }

  /// A number, wherever it stands: extents that fit each other still do.
  void everywhere() {
    if (plan_.values.empty()) return;
    const Shape& shape = plan_.values[c_.place % plan_.values.size()].shape;
    if (shape.empty()) return;
    const int64_t from = shape[c_.part % shape.size()], to = changed(from);
    for (PlanValue& v : plan_.values)
      for (int64_t& d : v.shape) d = d == from ? to : d;
    for (Step& s : plan_.steps) {
      Parameters changed;
      for (auto [name, value] : s.parameters.entries()) {
        if (auto* n = std::get_if<int64_t>(&value)) *n = *n == from ? to : *n;
        if (auto* list = std::get_if<std::vector<int64_t>>(&value))
          for (int64_t& n : *list) n = n == from ? to : n;
        changed.set(name, std::move(value));
      }
      s.parameters = std::move(changed);
    }
  }

  void parameter(Step& s) {
    const auto& entries = s.parameters.entries();
    if (entries.empty()) return;
    const std::string name = entries[c_.part % entries.size()].first;
    engine::Parameter value = entries[c_.part % entries.size()].second;
    Change own = c_;
    own.part = static_cast<uint8_t>(c_.part / entries.size());
    const Forger inner(plan_, own);
    if (c_.how >= 250) {
      value = c_.how % 2 == 0 ? engine::Parameter(int64_t{c_.number})
                              : engine::Parameter(std::vector<int64_t>{c_.number});
    } else if (auto* n = std::get_if<int64_t>(&value)) {
      *n = changed(*n);
    } else if (auto* x = std::get_if<double>(&value)) {
      *x = c_.how % 3 == 0 ? 0 : c_.number * (c_.how % 3 == 1 ? 1.0 : 1e300);
    } else if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      inner.number_of(*list);
    } else if (auto* reals = std::get_if<std::vector<double>>(&value)) {
      inner.number_of(*reals);
    } else if (auto* text = std::get_if<std::string>(&value)) {
      *text = c_.how % 2 == 0 ? "max" : "average_with_pads";
    } else if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      const auto op = static_cast<kernels::PointwiseOp>(static_cast<uint16_t>(c_.number) % 40);
      if (texts->empty() || c_.how >= 220)
        texts->emplace_back(kernels::pointwise_name(op));
      else if (c_.how >= 200)
        texts->pop_back();
      else
        (*texts)[own.part % texts->size()] = kernels::pointwise_name(op);
    }
    s.parameters.set(name, std::move(value));
  }

  Plan& plan_;
  const Change& c_;
};

const std::vector<engine::SavedEngine>& parsed_seeds() {
  static const auto* const seeds = [] {
    auto* list = new std::vector<engine::SavedEngine>;
    for (const std::string& bytes : plan_seeds())
      list->push_back(engine::parse_engine(bytes, nullptr, "a seed", plan_environment_here()));
    return list;
  }();
  return *seeds;
}

void run(std::string_view input) {
  if (input.size() < kChanges) return;
  const size_t seed = static_cast<uint8_t>(input[0]) + 256u * static_cast<uint8_t>(input[1]);
  engine::SavedEngine e = parsed_seeds()[seed % parsed_seeds().size()];
  std::vector<Plan*> plans;
  for (engine::SpecializedPlan& p : e.plans) {
    if (p.plan == nullptr) continue;
    const std::shared_ptr<Plan> copy = copy_of(*p.plan);
    collect(*copy, plans);
    p.plan = copy;
  }
  if (plans.empty()) return;
  for (size_t at = kChanges; at + sizeof(Change) <= input.size(); at += sizeof(Change)) {
    Change change;
    std::memcpy(&change, input.data() + at, sizeof change);
    Forger(*plans[change.network % plans.size()], change).apply();
  }
  // The shapes that a plan is for are said twice.
  for (engine::SpecializedPlan& p : e.plans)
    for (size_t i = 0; p.plan != nullptr && i < p.key.shapes.size() && i < p.plan->inputs.size(); ++i) {
      const auto id = static_cast<size_t>(p.plan->inputs[i]);
      if (id < p.plan->values.size() && p.plan->values[id].has_shape)
        p.key.shapes[i] = p.plan->values[id].shape;
      if (id < p.plan->values.size() && e.inputs[i].type.is_tensor() && input.size() % 2 == 0) {
        e.inputs[i].type.dtype = p.plan->values[id].dtype;
        e.inputs[i].type.dims.reset();
      }
    }
  run_plan(engine::serialize_engine(e));
}

std::vector<std::string> seeds() {
  std::vector<std::string> list;
  for (size_t i = 0; i < plan_seeds().size(); ++i)
    list.push_back({static_cast<char>(i % 256), static_cast<char>(i / 256)});
  return list;
}

/// Another change, or a number of one.
void change(std::string& input, Random& r) {
  const size_t count = input.size() < kChanges ? 0 : (input.size() - kChanges) / sizeof(Change);
  if (count > 0 && r.chance(40)) {
    input[kChanges + r.below(count * sizeof(Change))] = static_cast<char>(r.below(256));
    return;
  }
  if (count > 6) return input.resize(kChanges + sizeof(Change) * r.below(count));
  input.resize(kChanges + count * sizeof(Change));
  for (size_t i = 0; i < sizeof(Change); ++i) input.push_back(static_cast<char>(r.below(256)));
  if (r.chance(50)) {
    // Places and numbers are small.
    input[input.size() - 5] = 0;
    input[input.size() - 1] = 0;
    input[input.size() - 2] = static_cast<char>(r.below(24));
  }
}

}  // namespace

constinit const Target def = {
    .name = "plan_forged", .run = run, .seeds = seeds, .mutate = change, .most_bytes = 66};

}  // namespace assay::fuzz::target_plan_forged
