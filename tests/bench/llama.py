#!/usr/bin/env python3
"""Tokens a second of one decoder with 4-bit weights: here, in ONNX Runtime and in llama.cpp (as the package xllamacpp), interleaved.

    llama.py BINARY VENV [--layers N] [--width N] [--tokens N] [--threads N] [--rounds N]

VENV has the packages xllamacpp, gguf, numpy and onnx. The weights are random; shapes, blocks (32 weights with a scale) and bits (Q4_0 in
llama.cpp) are equal. llama.cpp rounds what it multiplies to 8 bits, as `--round-rows` allows. Rates are those of the second half
of the tokens, where no plan is made any more; llama.cpp's, which makes none, of all.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

BLOCK = 32
VOCABULARY = 32000
PROMPT = [1, 2, 3, 4]

WRITE = """
import sys
import numpy as np
import gguf
path, layers, width, vocabulary = sys.argv[1], *map(int, sys.argv[2:])
heads, key_heads = width // 64, width // 256
w = gguf.GGUFWriter(path, "llama")
w.add_context_length(4096)
w.add_embedding_length(width)
w.add_block_count(layers)
w.add_feed_forward_length(2 * width)
w.add_head_count(heads)
w.add_head_count_kv(key_heads)
w.add_rope_dimension_count(64)
w.add_layer_norm_rms_eps(1e-5)
w.add_vocab_size(vocabulary)
w.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
w.add_tokenizer_model("llama")
tokens = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % i for i in range(256)]
kinds = [2, 3, 3] + [6] * 256
while len(tokens) < vocabulary:
    tokens.append(b"t%d" % len(tokens))
    kinds.append(1)
w.add_token_list(tokens)
w.add_token_scores([0.0] * vocabulary)
w.add_token_types(kinds)
w.add_bos_token_id(1)
w.add_eos_token_id(2)
w.add_unk_token_id(0)
random = np.random.default_rng(7)
def matrix(name, rows, depth):
    data = random.standard_normal((rows, depth), dtype=np.float32) / np.sqrt(depth)
    q = gguf.quants.quantize(data, gguf.GGMLQuantizationType.Q4_0)
    w.add_tensor(name, q, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
def norm(name):
    w.add_tensor(name, np.ones(width, np.float32))
matrix("token_embd.weight", vocabulary, width)
norm("output_norm.weight")
matrix("output.weight", vocabulary, width)
for i in range(layers):
    b = f"blk.{i}."
    norm(b + "attn_norm.weight")
    norm(b + "ffn_norm.weight")
    matrix(b + "attn_q.weight", width, width)
    matrix(b + "attn_k.weight", width // 4, width)
    matrix(b + "attn_v.weight", width // 4, width)
    matrix(b + "attn_output.weight", width, width)
    matrix(b + "ffn_gate.weight", 2 * width, width)
    matrix(b + "ffn_up.weight", 2 * width, width)
    matrix(b + "ffn_down.weight", width, 2 * width)
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
"""

RUN = """
import json, sys
import xllamacpp
path, tokens, threads, prompt = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
p = xllamacpp.CommonParams()
p.model.path = path
p.n_ctx = 1024
p.n_parallel = 1
p.warmup = True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(p)
def rate(count):
    answer = server.handle_completions({"prompt": prompt, "n_predict": count, "temperature": 0, "ignore_eos": True, "cache_prompt": False})
    if isinstance(answer, str):
        answer = json.loads(answer)
    return answer["timings"]
rate(8)
print("RATE", rate(tokens)["predicted_per_second"])
"""


def decoder(folder, layers, width):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "generate"))
    import models
    import onnx
    onnx.save(models.decoder(layers=layers, width=width, heads=width // 64, key_heads=width // 256, vocabulary=VOCABULARY), folder / "float.onnx")


def here(assay, folder, model, backend, tokens, threads):
    subprocess.run([assay, "generate", model, f"--{backend}", "--prompt-ids", ",".join(map(str, PROMPT)), "--max-tokens", str(tokens), "--threads", str(threads),
                    "--json", "report.json"], cwd=folder, check=True, capture_output=True)
    [found] = json.loads((folder / "report.json").read_text())["backends"]
    [sequence] = found["sequences"]
    steps = sequence["seconds"][tokens // 2:]
    return len(steps) / sum(steps)


def llama(python, folder, tokens, threads):
    done = subprocess.run([python, "-c", RUN, "q4_0.gguf", str(tokens), str(threads), json.dumps(PROMPT)], cwd=folder, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("RATE"):
            return float(line.split()[1])
    sys.exit(f"llama.cpp gave no rate: {done.stdout[-2000:]} {done.stderr[-2000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("venv")
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    assay, python = str(pathlib.Path(a.binary).resolve()), str(pathlib.Path(a.venv).resolve() / "bin/python")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        decoder(folder, a.layers, a.width)
        for output, more in (("q4.onnx", []), ("q4r.onnx", ["--round-rows"])):
            subprocess.run([assay, "convert", "float.onnx", "--int4", "--weight-format", "matmul-nbits", "--weight-block", str(BLOCK), *more, "-o", output],
                           cwd=folder, check=True, capture_output=True)
        subprocess.run([python, "-c", WRITE, "q4_0.gguf", str(a.layers), str(a.width), str(VOCABULARY)], cwd=folder, check=True, capture_output=True)
        cases = {
            "assay, float32": lambda: here(assay, folder, "float.onnx", "engine", a.tokens, a.threads),
            "assay, 4 bits": lambda: here(assay, folder, "q4.onnx", "engine", a.tokens, a.threads),
            "assay, 4 bits, rows rounded": lambda: here(assay, folder, "q4r.onnx", "engine", a.tokens, a.threads),
            "ONNX Runtime, 4 bits": lambda: here(assay, folder, "q4.onnx", "onnxrt", a.tokens, a.threads),
            "ONNX Runtime, 4 bits, rows rounded": lambda: here(assay, folder, "q4r.onnx", "onnxrt", a.tokens, a.threads),
            "llama.cpp, Q4_0": lambda: llama(python, folder, a.tokens, a.threads),
        }
        rates = {case: [] for case in cases}
        for _ in range(a.rounds):
            for case, measure in cases.items():
                rates[case].append(measure())
        print(f"{a.layers} layers of {a.width}, {VOCABULARY} tokens in the vocabulary, {a.threads} threads, the second half of {a.tokens} tokens")
        print("| case | tokens a second, median | runs |\n|---|---:|---|")
        for case, found in rates.items():
            print(f"| {case} | {statistics.median(found):.1f} | {' '.join(f'{r:.1f}' for r in found)} |")


if __name__ == "__main__":
    main()
