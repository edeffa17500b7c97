#include "generate/stepper.h"

#include <fmt/format.h>

#include <chrono>

#include "assay/interrupt.h"

namespace assay::generate {

std::optional<BuiltPlans> plans_of(const Session& session) {
  const auto* counter = dynamic_cast<const PlanCounter*>(&session);
  return counter != nullptr ? std::optional(counter->plans_built()) : std::nullopt;
}

Stepper::Stepper(std::string backend, std::shared_ptr<Session> session, const InterfaceNames& names)
    : backend_(std::move(backend)),
      session_(std::move(session)),
      interface_(
          std::make_shared<const Interface>(find_interface(session_->inputs(), session_->outputs(), names))),
      sequence_(interface_) {}

void Stepper::begin(size_t prompt) {
  sequence_ = TokenSequence(interface_);
  prompt_ = prompt;
}

std::string Stepper::place(size_t index) const {
  const auto behind = sequence_.tokens().size();
  return fmt::format("for token {} of prompt {} on {}{}", index, prompt_, backend_,
                     behind > 0 ? fmt::format(", behind {} positions", behind) : "");
}

Stepper::Step Stepper::run(std::span<const int64_t> part) {
  stop_if_interrupted();
  const BuiltPlans before = plans_of(*session_).value_or(BuiltPlans());
  const std::vector<Tensor> feed = sequence_.feed(part);
  std::vector<Tensor> outputs(session_->outputs().size());
  const auto begin = std::chrono::steady_clock::now();
  session_->run(feed, [&](size_t i, Tensor t) { outputs.at(i) = std::move(t); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const BuiltPlans after = plans_of(*session_).value_or(BuiltPlans());
  return {.logits = sequence_.take(part, std::move(outputs)),
          .seconds = took.count(),
          .plans = {.whole = after.whole - before.whole, .parts = after.parts - before.parts}};
}

}  // namespace assay::generate
