// Deep Speech 2 with bidirectional LSTM layers.
#include "templates/deep_speech_2.h"
#include "templates/template_list.h"

namespace assay::template_deep_speech_2_lstm {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_deep_speech_2(options, "deep_speech_2_lstm", DeepSpeechCell::kBidirectionalLstm);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "deep-speech-2-lstm",
    .summary = "speech recogniser: convolutions, 5 bidirectional LSTM layers of 1024 (Amodei et al., 2016)",
    .build = build};

}  // namespace assay::template_deep_speech_2_lstm
