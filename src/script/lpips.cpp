#include "script/lpips.h"

#include "assay/error.h"
#include "base/wording.h"

namespace assay::script {

constexpr const char* kDoing = "it computed LPIPS";

Lpips::Lpips(const std::string& interpreter)
    : child_(std::make_unique<Child>(ChildOptions{"LPIPS", interpreter})) {
  with_context([] { return say(Say::kNamePerceptual); }, [&] { child_->call("lpips.open", {}, kDoing); });
}

std::variant<double, std::string> Lpips::distance(const Tensor& first, const Tensor& second) {
  const Item answer = child_->call("lpips.distance", {{"first", first}, {"second", second}}, kDoing);
  for (const auto& [key, value] : answer.dict())
    if (key == "distance") return value.number();
  return answer.at("reason").text();
}

}  // namespace assay::script
