// The program that the tests of this folder run: a model on a runner in Python, from files to files.
//
//   runner_tool RUNNER MODEL INPUTS.npz OUTPUTS.npz [OPTION=VALUE...]
//
// RUNNER is the name of a shipped one or FILE.py[:CLASS]. Prints the types of inputs and outputs.
#include <fmt/format.h>

#include <exception>

#include "script/session.h"
#include "tensor/npz.h"

namespace assay {
namespace {

int run(const std::vector<std::string>& arguments) {
  const auto& [runner, model, inputs, outputs] =
      std::tie(arguments.at(0), arguments.at(1), arguments.at(2), arguments.at(3));
  script::ScriptSessionOptions options;
  for (size_t i = 4; i < arguments.size(); ++i) {
    const size_t sign = arguments[i].find('=');
    options.options.emplace_back(arguments[i].substr(0, sign), arguments[i].substr(sign + 1));
  }
  const bool is_file = runner.find('.') != std::string::npos;
  const auto session = script::open_script_session(
      is_file ? script::parse_runner(runner) : script::shipped_runner(runner), model, options);
  for (const TensorInfo& i : session->inputs()) fmt::print("input {} {}\n", i.name, i.type.str());
  for (const TensorInfo& o : session->outputs()) fmt::print("output {} {}\n", o.name, o.type.str());
  const TensorList given = NpzReader::open(inputs).load_all();
  std::vector<Tensor> feed;
  for (const TensorInfo& i : session->inputs()) {
    const Tensor* tensor = find(given, i.name);
    if (tensor == nullptr) fail(ErrorCode::kInvalidArgument, "{} has no array '{}'", inputs, i.name);
    feed.push_back(*tensor);
  }
  NpzWriter out(outputs);
  session->run(feed, [&](size_t i, const Tensor& t) { out.add(session->outputs()[i].name, t); });
  out.commit();
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  try {
    return assay::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
