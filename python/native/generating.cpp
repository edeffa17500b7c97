// Tokens that language models generate.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>

#include "assay/error.h"
#include "assay/generate.h"
#include "assay/loaders.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"
#include "runs.h"

namespace assay::python {
namespace {

using ModelRef = std::shared_ptr<Model>;

/// Calls on_token(runner, prompt, token, seconds), unless it is None.
class TokenObserver final : public generate::Observer {
 public:
  explicit TokenObserver(nb::handle on_token) : on_token_(on_token) {}
  void on_token(const std::string& runner, size_t prompt, const generate::GeneratedToken& t) override {
    if (on_token_.is_none()) return;
    const Locked lock;
    drain_log();
    on_token_(to_text(runner), prompt, t.token, t.seconds);
  }

 private:
  nb::handle on_token_;
};

/// (name, backend's name or object with infer(feed)).
generate::Participant participant_of(nb::handle entry, const ModelRef& model, int threads) {
  const nb::tuple parts = to_parts(entry, 2, "runner: (name, runner)");
  generate::Participant p{.name = nb::cast<std::string>(parts[0])};
  const nb::object runner = parts[1];
  if (nb::isinstance<nb::str>(runner)) {
    p.open = [model, backend = nb::cast<std::string>(runner), options = session_options(threads, false)] {
      return poly::SessionFromOnnx(model, options, backend)();
    };
    return p;
  }
  std::shared_ptr<Session> session = python_session(runner, *model);
  p.open = [session] { return session; };
  return p;
}

using NamePairs = std::vector<std::pair<std::string, std::string>>;

/// Names by roles, and caches.
generate::InterfaceNames interface_names(const std::pair<NamePairs, NamePairs>& given) {
  std::vector<std::string> words;
  for (const auto& [role, name] : given.first) words.push_back(role + "=" + name);
  generate::InterfaceNames names = generate::parse_interface_names(words);
  names.caches = given.second;
  return names;
}

nb::str generate_tokens(const ModelRef& model, const std::vector<generate::Tokens>& prompts,
                        nb::handle runners, int64_t max_tokens, const std::vector<int64_t>& ends,
                        nb::handle sampling, const std::pair<NamePairs, NamePairs>& interface, bool judges,
                        int threads, nb::handle on_token) {
  const nb::tuple choice = to_parts(sampling, 4, "choice of tokens: (temperature, top_k, top_p, seed)");
  const auto seed = nb::cast<int64_t>(choice[3]);
  if (seed < 0 || seed > UINT32_MAX)
    fail(ErrorCode::kInvalidArgument, "{} is no seed: it is a number from 0 to {}", seed, UINT32_MAX);
  const generate::Options options{
      .prompts = prompts,
      .max_tokens = max_tokens,
      .ends = ends,
      .sampling = {.temperature = nb::cast<double>(choice[0]),
                   .top_k = nb::cast<int64_t>(choice[1]),
                   .top_p = nb::cast<double>(choice[2]),
                   .seed = static_cast<uint32_t>(seed)},
      .names = interface_names(interface),
      .model = judges ? without_lock([&] { return poly::InferShapes(model)(); }) : ModelRef()};
  std::vector<generate::Participant> participants;
  for (nb::handle r : nb::iter(runners)) participants.push_back(participant_of(r, model, threads));
  TokenObserver observer(on_token);
  const std::string report = interruptible(
      [&] { return generate::report_json(generate::generate(options, participants, observer)); });
  return to_text(report);
}

}  // namespace

void bind_generating(nb::module_& m) {
  m.def("generate", &generate_tokens, nb::arg("model"), nb::arg("prompts"), nb::arg("runners"),
        nb::arg("max_tokens"), nb::arg("ends"), nb::arg("sampling"), nb::arg("interface"), nb::arg("judges"),
        nb::arg("threads"), nb::arg("on_token").none());
}

}  // namespace assay::python
