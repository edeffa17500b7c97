// Deep Speech 2 with GRU layers of one direction, for streaming.
#include "templates/deep_speech_2.h"
#include "templates/template_list.h"

namespace assay::template_deep_speech_2_gru {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_deep_speech_2(options, "deep_speech_2_gru", DeepSpeechCell::kGru);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "deep-speech-2-gru",
    .summary = "speech recogniser: convolutions, 5 GRU layers of 1024, look-ahead (Amodei et al., 2016)",
    .build = build};

}  // namespace assay::template_deep_speech_2_gru
