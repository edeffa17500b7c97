#!/usr/bin/env python3
"""Exports networks of timm, torchvision, torchaudio and transformers, with random weights, by both exporters of PyTorch.

    tests/foreign/export.py FOLDER [PART...] [--seconds S]

It needs an environment with tools/requirements-export.txt. FOLDER gets NAME.ts.onnx (TorchScript) or NAME.dyn.onnx (torch.export),
148 files of some 6 GB in all; PART... are parts of names. What is there already stays, what neither exporter takes is named. Then

    tests/bench/table.py build/assay FOLDER/*.onnx --runs 1 --threads 2

compares their speed, `assay run MODEL --engine --onnxrt --arbiter` what they compute, and
`assay surgeon sanitize MODEL --fold-constants --simplify --prove -o OUT` simplifies them.
"""
import argparse
import logging
import os
import pathlib
import signal
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import torch  # noqa: E402

TIMM = """bat_resnext26ts beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coat_lite_tiny coatnet_0_rw_224 convit_tiny convmixer_768_32
convnextv2_atto crossvit_9_240 csatv2 cspresnet50 darknet53 davit_tiny deit3_small_patch16_224 dla34 dpn68 eca_nfnet_l0 edgenext_small
edgenext_xx_small efficientformer_l1 efficientvit_b0 efficientvit_l1 efficientvit_m2 ese_vovnet19b_dw eva02_tiny_patch14_224 fasternet_t0
fastvit_t8 fbnetc_100 focalnet_tiny_srf gcresnet33ts gernet_s ghostnetv2_100 gmlp_s16_224 halonet26t hardcorenas_a hgnetv2_b0
hiera_tiny_224 hrnet_w18_small_v2 inception_next_atto inception_resnet_v2 lambda_resnet26t lamhalobotnet50ts_256 lcnet_100 levit_128
mambaout_femto maxvit_rmlp_pico_rw_256 mixer_s16_224 mixnet_s mobilenetv4_conv_small mobileone_s0 mobilevit_s mobilevitv2_050
naflexvit_base_patch16_gap nest_tiny nextvit_small nfnet_l0 pit_ti_224 poolformer_s12 pvt_v2_b0 regnetz_b16 repghostnet_100
repvgg_a0 repvit_m0_9 res2net50_26w_4s resmlp_12_224 resnest26d resnet26t rexnet_100 samvit_base_patch16_224 selecsls42 semnasnet_100
sequencer2d_s seresnext26d_32x4d shvit_s1 skresnet18 spnasnet_100 starnet_s1 swiftformer_xs swinv2_tiny_window8_256
tf_efficientnet_lite0 tiny_vit_5m_224 tnt_s_patch16_224 twins_svt_small vgg11_bn visformer_tiny vit_tiny_patch16_224 vitamin_small_224
volo_d1_224 wide_resnet50_2 xception41 xcit_nano_12_p16_224""".split()

SMALL = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024, "vocab_size": 5000}


def numbers(*shape):
    return torch.randn(*shape)


def tokens(n=64):
    return torch.randint(3, 900, (1, n))


def timm_networks():
    import timm

    def build(name):
        network = timm.create_model(name, pretrained=False, exportable=True)
        return network, (numbers(1, *network.default_cfg["input_size"]),)
    return {f"timm_{name}": lambda name=name: build(name) for name in TIMM}


def torchvision_networks():
    import torchvision.models as v
    bare = {"weights": None, "weights_backbone": None}
    small = {**bare, "min_size": 320, "max_size": 480}
    picture, clip = (lambda n: (numbers(1, 3, n, n),)), (lambda t, n: (numbers(1, 3, t, n, n),))
    found = lambda: ([torch.rand(3, 320, 320)],)
    return {
        "fcn_resnet50": lambda: (v.segmentation.fcn_resnet50(**bare), picture(256)),
        "lraspp": lambda: (v.segmentation.lraspp_mobilenet_v3_large(**bare), picture(320)),
        "deeplab_mobile": lambda: (v.segmentation.deeplabv3_mobilenet_v3_large(**bare), picture(320)),
        "r3d_18": lambda: (v.video.r3d_18(), clip(8, 112)),
        "r2plus1d_18": lambda: (v.video.r2plus1d_18(), clip(8, 112)),
        "mc3_18": lambda: (v.video.mc3_18(), clip(8, 112)),
        "s3d": lambda: (v.video.s3d(), clip(16, 224)),
        "mvit_v1_b": lambda: (v.video.mvit_v1_b(), clip(16, 224)),
        "swin3d_t": lambda: (v.video.swin3d_t(), clip(8, 112)),
        "fasterrcnn_mobile_320": lambda: (v.detection.fasterrcnn_mobilenet_v3_large_320_fpn(**bare), found()),
        "maskrcnn": lambda: (v.detection.maskrcnn_resnet50_fpn(**small), found()),
        "retinanet": lambda: (v.detection.retinanet_resnet50_fpn(**small), found()),
        "ssdlite": lambda: (v.detection.ssdlite320_mobilenet_v3_large(**bare), found()),
        "raft_small": lambda: (v.optical_flow.raft_small(), (torch.rand(1, 3, 128, 160), torch.rand(1, 3, 128, 160))),
        "googlenet": lambda: (v.googlenet(weights=None, init_weights=False, aux_logits=False), picture(224)),
        "swin_v2_t": lambda: (v.swin_v2_t(), picture(256)),
        "maxvit_t": lambda: (v.maxvit_t(), picture(224)),
    }


def torchaudio_networks():
    import torchaudio.models as a
    return {
        "conv_tasnet": lambda: (a.ConvTasNet(), (numbers(1, 1, 8000),)),
        "deepspeech": lambda: (a.DeepSpeech(161), (numbers(1, 1, 100, 161),)),
        "wav2letter": lambda: (a.Wav2Letter(num_classes=40), (numbers(1, 1, 16000),)),
        "squim": lambda: (a.squim_objective_base(), (numbers(1, 8000),)),
        "emformer": lambda: (a.Emformer(128, 4, 256, 4, 16, right_context_length=4), (torch.rand(1, 36, 128), torch.tensor([32]))),
    }


class FirstResult(torch.nn.Module):
    """A network of transformers or of segmentation without what surrounds its result."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *inputs):
        results = self.network(*inputs)
        for name in ("last_hidden_state", "logits"):
            if getattr(results, name, None) is not None:
                return getattr(results, name)
        return tuple(v for v in results.values() if torch.is_tensor(v)) if isinstance(results, dict) else results


def transformers_networks():
    import transformers as t
    wide = {"vocab_size": 5000, "d_model": 256}
    image, wave = (lambda n=224: (numbers(1, 3, n, n),)), (lambda: (numbers(1, 16000),))
    vision = {k: v for k, v in SMALL.items() if k != "vocab_size"}
    text = lambda: (tokens(),)
    # name: configuration, its numbers, network, inputs
    rows = {
        "deberta_v2": ("DebertaV2Config", {**SMALL, "relative_attention": True, "position_biased_input": False,
                                           "pos_att_type": ["p2c", "c2p"], "position_buckets": 64, "share_att_key": True,
                                           "norm_rel_ebd": "layer_norm"}, "DebertaV2Model", text),
        "mobilebert": ("MobileBertConfig", {"num_hidden_layers": 6, "vocab_size": 5000}, "MobileBertModel", text),
        "squeezebert": ("SqueezeBertConfig", {"num_hidden_layers": 4, "vocab_size": 5000}, "SqueezeBertModel", text),
        "funnel": ("FunnelConfig", {**wide, "block_sizes": [2, 2], "n_head": 4, "d_head": 64, "d_inner": 1024}, "FunnelModel", text),
        "fnet": ("FNetConfig", SMALL, "FNetModel", text),
        "mpnet": ("MPNetConfig", SMALL, "MPNetModel", text),
        "convbert": ("ConvBertConfig", {**SMALL, "embedding_size": 256}, "ConvBertModel", text),
        "bart": ("BartConfig", {**wide, "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 4, "encoder_ffn_dim": 1024,
                                "decoder_attention_heads": 4, "decoder_ffn_dim": 1024}, "BartModel",
                 lambda: (tokens(), torch.ones(1, 64, dtype=torch.long), tokens(32))),
        "opt": ("OPTConfig", {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "ffn_dim": 1024, "vocab_size": 5000,
                              "word_embed_proj_dim": 256}, "OPTModel", text),
        "bloom": ("BloomConfig", {"hidden_size": 256, "n_layer": 4, "n_head": 4, "vocab_size": 5000}, "BloomModel", text),
        "qwen2": ("Qwen2Config", {**SMALL, "num_key_value_heads": 2}, "Qwen2ForCausalLM", text),
        "gemma": ("GemmaConfig", {**SMALL, "num_key_value_heads": 1, "head_dim": 64}, "GemmaForCausalLM", text),
        "phi": ("PhiConfig", SMALL, "PhiForCausalLM", text),
        "falcon": ("FalconConfig", {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 5000},
                   "FalconModel", text),
        "gpt_neo": ("GPTNeoConfig", {"hidden_size": 256, "num_layers": 4, "num_heads": 4, "vocab_size": 5000,
                                     "attention_types": [[["global", "local"], 2]]}, "GPTNeoModel", text),
        "xlnet": ("XLNetConfig", {**wide, "n_layer": 4, "n_head": 4, "d_inner": 1024}, "XLNetModel", text),
        "rwkv": ("RwkvConfig", {"vocab_size": 5000, "hidden_size": 256, "num_hidden_layers": 4}, "RwkvModel", lambda: (tokens(16),)),
        "mamba": ("MambaConfig", {"vocab_size": 5000, "hidden_size": 256, "num_hidden_layers": 2}, "MambaModel", lambda: (tokens(16),)),
        "t5": ("T5Config", {**wide, "d_kv": 64, "d_ff": 1024, "num_layers": 4, "num_heads": 4}, "T5EncoderModel", text),
        "clip": ("CLIPVisionConfig", {**vision, "image_size": 224, "patch_size": 32}, "CLIPVisionModel", image),
        "dinov2": ("Dinov2Config", {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 224},
                   "Dinov2Model", image),
        "segformer": ("SegformerConfig", {}, "SegformerModel", lambda: image(256)),
        "dpt": ("DPTConfig", {**vision, "image_size": 224, "neck_hidden_sizes": [32, 64, 128, 128], "fusion_hidden_size": 64,
                              "backbone_out_indices": [0, 1, 2, 3]}, "DPTForDepthEstimation", image),
        "yolos": ("YolosConfig", {**vision, "image_size": [256, 256], "num_detection_tokens": 50}, "YolosModel", lambda: image(256)),
        "mobilevit": ("MobileViTConfig", {"image_size": 256}, "MobileViTModel", lambda: image(256)),
        "poolformer": ("PoolFormerConfig", {}, "PoolFormerModel", image),
        "swin2sr": ("Swin2SRConfig", {"image_size": 64, "embed_dim": 60, "depths": [2, 2], "num_heads": [6, 6]},
                    "Swin2SRForImageSuperResolution", lambda: (torch.rand(1, 3, 64, 64),)),
        "hubert": ("HubertConfig", vision, "HubertModel", wave),
        "wavlm": ("WavLMConfig", vision, "WavLMModel", wave),
        "ast": ("ASTConfig", {**vision, "max_length": 256}, "ASTModel", lambda: (numbers(1, 256, 128),)),
        "encodec": ("EncodecConfig", {}, "EncodecModel", lambda: (numbers(1, 1, 12000),)),
        "speecht5_hifigan": ("SpeechT5HifiGanConfig", {}, "SpeechT5HifiGan", lambda: (numbers(40, 80),)),
        "patchtst": ("PatchTSTConfig", {"num_input_channels": 7, "context_length": 96, "patch_length": 16, "patch_stride": 8},
                     "PatchTSTModel", lambda: (numbers(1, 96, 7),)),
        "lxmert": ("LxmertConfig", SMALL, "LxmertModel", lambda: (tokens(20), numbers(1, 36, 2048), torch.rand(1, 36, 4))),
    }

    def build(config, values, network, inputs):
        made = getattr(t, config)(**values)
        made.use_cache = False
        return getattr(t, network)(made), inputs()
    return {name: lambda row=row: build(*row) for name, row in rows.items()}


def fill_statistics(network):
    """Batch normalisations as after training: not the 0 and 1 that they begin with."""
    random = torch.Generator().manual_seed(1)
    for name, buffer in network.named_buffers():
        if name.endswith("running_mean"):
            buffer.copy_(torch.randn(buffer.shape, generator=random) * 0.1)
        if name.endswith("running_var"):
            buffer.copy_(torch.rand(buffer.shape, generator=random) * 0.5 + 0.75)


def export(build, path, by):
    with torch.no_grad():
        torch.manual_seed(0)
        network, inputs = build()
        network.eval()
        fill_statistics(network)
        if type(network).__module__.startswith(("transformers.", "torchvision.models.segmentation")):
            network = FirstResult(network)
        if by == "ts":
            torch.onnx.export(network, inputs, path, opset_version=17, dynamo=False)
        else:
            torch.onnx.export(network, inputs, path, dynamo=True, external_data=False, optimize=True, verbose=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--seconds", type=int, default=150, help="what an export may take")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    def too_slow(*_):
        raise TimeoutError(f"more than {options.seconds} s")
    signal.signal(signal.SIGALRM, too_slow)
    networks = {**torchvision_networks(), **torchaudio_networks(), **transformers_networks(), **timm_networks()}
    failed = 0
    for i, (name, build) in enumerate(networks.items()):
        if options.parts and not any(part in name for part in options.parts):
            continue
        reasons = []
        # Either exporter first, in turns: they write other forms of the same.
        for by in ("ts", "dyn") if i % 2 else ("dyn", "ts"):
            path, start = options.folder / f"{name}.{by}.onnx", time.monotonic()
            if path.exists():
                break
            signal.alarm(options.seconds)
            try:
                export(build, f"{path}.part", by)
                os.replace(f"{path}.part", path)
                print(f"{path.name}: {time.monotonic() - start:.0f} s", flush=True)
                break
            except Exception as error:  # whatever a network and an exporter fail with
                reasons.append(f"{by}: {type(error).__name__}: {str(error).strip().splitlines()[:1]}")
            finally:
                signal.alarm(0)
        else:
            failed += 1
            print(f"{name} was not exported: {'; '.join(reasons)[:300]}", flush=True)
    print(f"{failed} networks were not exported")
    return 0


if __name__ == "__main__":
    sys.exit(main())
