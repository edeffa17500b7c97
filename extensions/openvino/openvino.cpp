// The runner --openvino: OpenVINO through its C interface, loaded when it is asked for.
// docs/guide/runners.md.
#include <assay/extension.h>

#include "library.h"
#include "session.h"

namespace ext = assay::ext;

namespace {

constexpr const char *kRunner = "--openvino", *kLibrary = "--openvino-library",
                     *kDevice = "--openvino-device", *kConfig = "--openvino-config";

/// The word behind an option; nothing, too, in commands that do not have the options of `run`.
std::optional<std::string> text(const ext::Args& args, const char* option) {
  try {
    return args.text(option);
  } catch (const ext::Error&) {
    return std::nullopt;
  }
}
std::vector<std::string> words(const ext::Args& args, const char* option) {
  try {
    return args.words(option);
  } catch (const ext::Error&) {
    return {};
  }
}

std::pair<std::string, std::string> property_of(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw ext::Error(std::string(kConfig) + " takes KEY=VALUE, not '" + word + "'");
  return {word.substr(0, equals), word.substr(equals + 1)};
}

/// The session's settings, then the user's, which override them.
ov::SessionSettings settings_of(const ext::Args& args, int threads) {
  ov::SessionSettings settings{.device = text(args, kDevice).value_or("CPU"), .properties = {}};
  auto& list = settings.properties;
  const auto set = [&](const std::string& key, const std::string& value) {
    for (auto& [known, old] : list)
      if (known == key) {
        old = value;
        return;
      }
    list.emplace_back(key, value);
  };
  // A device may choose bfloat16 or float16 by itself; the verdict is on the model's own types.
  const bool is_cpu = settings.device.starts_with("CPU");
  if (is_cpu || settings.device.starts_with("GPU")) set("INFERENCE_PRECISION_HINT", "f32");
  if (is_cpu && threads > 0) set("INFERENCE_NUM_THREADS", std::to_string(threads));
  for (const std::string& word : words(args, kConfig)) {
    const auto [key, value] = property_of(word);
    set(key, value);
  }
  if (list.size() > ov::kMaxProperties)
    throw ext::Error(std::string(kConfig) + " takes at most " + std::to_string(ov::kMaxProperties) +
                     " properties, those that are set by themselves among them");
  return settings;
}

class OpenVino : public ext::Runner {
 public:
  explicit OpenVino(std::shared_ptr<ov::Libraries> libraries) : libraries_(std::move(libraries)) {}
  const char* name() const override { return "openvino"; }
  const char* option() const override { return kRunner; }
  const char* human_name() const override { return "OpenVINO"; }
  const char* summary() const override {
    return "OpenVINO, from a library that is loaded when it is asked for";
  }
  void probe() override { libraries_->load(libraries_->given()); }
  std::unique_ptr<ext::Session> open(const ext::Model& model, const std::string& path, int threads,
                                     const ext::Args& args) override {
    const auto library = libraries_->load(text(args, kLibrary).value_or(""));
    ext::log(ext::Severity::kVerbose, "OpenVINO " + library->version() + " from " + library->path());
    return ov::open_session(library, model, path, settings_of(args, threads));
  }

 private:
  std::shared_ptr<ov::Libraries> libraries_;
};

class Options : public ext::OptionGroup {
 public:
  explicit Options(std::shared_ptr<ov::Libraries> libraries) : libraries_(std::move(libraries)) {}
  const char* title() const override { return "OpenVINO"; }
  const char* description() const override { return "How --openvino runs a model."; }
  std::vector<ext::Option> options() const override {
    return {
        {.names = kLibrary,
         .help = "OpenVINO: libopenvino_c.so, a folder that holds it, or a Python environment. Default: "
                 "ASSAY_OPENVINO, the Python environment, the library path.",
         .metavar = "PATH"},
        {.names = kDevice, .help = "The device to run on; default: CPU.", .metavar = "DEVICE"},
        {.names = kConfig,
         .help = "Properties of the compiled model. By default INFERENCE_PRECISION_HINT=f32 on CPU and GPU, "
                 "and the threads of the session on CPU.",
         .arity = ASSAY_AT_LEAST_ONE,
         .metavar = "KEY=VALUE"}};
  }
  void validate(const ext::Args& args) override {
    for (const char* option : {kLibrary, kDevice, kConfig})
      if (args.has(option) && !args.has(kRunner))
        throw ext::Error(std::string(option) + " is for --openvino, which is not given");
    settings_of(args, 1);
    libraries_->set_given(args.text(kLibrary).value_or(""));
  }

 private:
  std::shared_ptr<ov::Libraries> libraries_;
};

}  // namespace

ASSAY_EXTENSION("openvino", "1.0", "Runs models on OpenVINO", [](ext::Registry& r) {
  auto libraries = std::make_shared<ov::Libraries>();
  r.add<OpenVino>(libraries);
  r.add<Options>(libraries);
})
