#!/usr/bin/env python3
"""Extents that a number in a model sets are checked before memory is taken: every model here is refused with a sentence, and no command takes
more than 200 MB to find that out.

usage: extents_test.py ASSAY [NAME...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT_MB = 200
HUGE = 1 << 33
TREE = ("nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0], nodes_values=[0.0], nodes_modes=[\"LEAF\"], nodes_truenodeids=[0],"
        "nodes_falsenodeids=[0], target_treeids=[0], target_nodeids=[0], target_ids=[0], target_weights=[1.0]")

# name: (inputs, constants, nodes), y is the result
CASES = {
    "linear_targets": ("float[1,2] x", "", "ai.onnx.ml.LinearRegressor<coefficients=[1.0], targets=1000000000>(x)"),
    "linear_rows": ("float[1,0] x", "", "ai.onnx.ml.LinearRegressor<coefficients=[1.0], targets=1000000000>(x)"),
    "tree_targets": ("float[1,2] x", "", f"ai.onnx.ml.TreeEnsembleRegressor<n_targets={HUGE}, {TREE}>(x)"),
    "svm_supports": ("float[1,2] x", "", f"ai.onnx.ml.SVMRegressor<n_supports={HUGE}, coefficients=[1.0], support_vectors=[1.0, 2.0], rho=[0.0], kernel_type=\"LINEAR\", kernel_params=[1.0, 0.0, 1.0]>(x)"),
    "svm_classes": ("float[1,2] x", "", f"ai.onnx.ml.SVMClassifier<vectors_per_class=[{HUGE}, 1], coefficients=[1.0], support_vectors=[1.0, 2.0], rho=[0.0], classlabels_ints=[0, 1], kernel_type=\"LINEAR\", kernel_params=[1.0, 0.0, 1.0]>(x)"),
    "feature_vectorizer": ("float[1,2] x", "", f"ai.onnx.ml.FeatureVectorizer<inputdimensions=[{HUGE}]>(x)"),
    "one_hot": ("int64[1] x", f"int64 d = {{{HUGE}}}, float[2] v = {{0, 1}}", "OneHot(x, d, v)"),
    "constant_of_shape": ("float[1] x", f"int64[1] s = {{{HUGE}}}", "ConstantOfShape(s)"),
    "range": ("float[1] x", f"int64 a = {{0}}, int64 b = {{{HUGE}}}, int64 c = {{1}}", "Range(a, b, c)"),
    "expand": ("float[1] x", f"int64[1] s = {{{HUGE}}}", "Expand(x, s)"),
    "tile": ("float[1] x", f"int64[1] s = {{{HUGE}}}", "Tile(x, s)"),
    "pad": ("float[1] x", f"int64[2] s = {{0, {HUGE}}}", "Pad(x, s)"),
    "resize": ("float[1,1,4] x", f"float[3] s = {{1, 1, {float(HUGE)}}}", "Resize(x, , s)"),
    "resize_sizes": ("float[1,1,4] x", f"int64[3] s = {{1, 1, {HUGE}}}", "Resize(x, , , s)"),
    "random_normal": ("float[1] x", "", f"RandomNormal<shape=[{HUGE}]>()"),
    "random_uniform": ("float[1] x", "", f"RandomUniform<shape=[{HUGE}]>()"),
    "multinomial": ("float[1,3] x", "", f"Multinomial<sample_size={HUGE}>(x)"),
    "tf_idf": ("int64[4] x", "", f"TfIdfVectorizer<max_gram_length=1, max_skip_count=0, min_gram_length=1, mode=\"TF\", ngram_counts=[0], ngram_indexes=[{HUGE}], pool_int64s=[2]>(x)"),
    "window": ("float[1] x", f"int64 n = {{{HUGE}}}", "HannWindow(n)"),
    "mel": ("float[1] x", f"int64 n = {{{HUGE}}}, int64 l = {{16}}, int64 r = {{8192}}, float a = {{0}}, float b = {{4096}}", "MelWeightMatrix(n, l, r, a, b)"),
    "dft_length": ("float[1,8,1] x", f"int64 n = {{{HUGE}}}", "DFT(x, n)"),
    "eye": ("float[1] x", f"int64[2] s = {{{HUGE}, 2}}", "e = ConstantOfShape(s) y = EyeLike(e)"),
    "col2im": ("float[1,4,4] x", f"int64[2] i = {{{HUGE}, {HUGE}}}, int64[2] b = {{2, 2}}", "Col2Im(x, i, b)"),
    "conv_transpose": ("float[1,1,4] x", "float[1,1,2] w = {1, 1}", f"ConvTranspose<output_shape=[{HUGE}]>(x, w)"),
    "conv_transpose_stride": ("float[1,1,4] x", "float[1,1,2] w = {1, 1}", f"ConvTranspose<strides=[{HUGE}]>(x, w)"),
    "conv_pads": ("float[1,1,4] x", "float[1,1,2] w = {1, 1}", f"Conv<pads=[0, {HUGE}]>(x, w)"),
    "pool_pads": ("float[1,1,4] x", "", f"AveragePool<kernel_shape=[{2 * HUGE}], pads=[{HUGE}, {HUGE}]>(x)"),
    "max_pool_pads": ("float[1,1,4] x", "", f"MaxPool<kernel_shape=[2], pads=[0, {HUGE}]>(x)"),
    "center_crop_pad": ("float[1] x", f"int64[1] s = {{{HUGE}}}", "CenterCropPad(x, s)"),
    "affine_grid": ("float[1,2,3] x", f"int64[4] s = {{1, 1, {HUGE}, 2}}", "AffineGrid(x, s)"),
    "roi_align": ("float[1,1,4,4] x", "float[1,4] r = {0, 0, 1, 1}, int64[1] b = {0}", f"RoiAlign<output_height={HUGE}, output_width=2>(x, r, b)"),
    "max_roi_pool": ("float[1,1,4,4] x", "float[1,5] r = {0, 0, 0, 1, 1}", f"MaxRoiPool<pooled_shape=[{HUGE}, 2]>(x, r)"),
    "lstm": ("float[1,1,2] x", "float[1,4,2] w = {1, 1, 1, 1, 1, 1, 1, 1}, float[1,4,1] r = {1, 1, 1, 1}", f"LSTM<hidden_size={HUGE}>(x, w, r)"),
    "gru": ("float[1,1,2] x", "float[1,3,2] w = {1, 1, 1, 1, 1, 1}, float[1,3,1] r = {1, 1, 1}", f"GRU<hidden_size={HUGE}>(x, w, r)"),
    "split": ("float[4] x", "", f"Split<num_outputs={HUGE}>(x)"),
    "split_to_sequence": ("float[4] x", "int64 n = {1}", f"s = SplitToSequence<axis={HUGE}>(x, n) y = SequenceLength(s)"),
    "top_k": ("float[4] x", f"int64[1] k = {{{HUGE}}}", "y, i = TopK(x, k)"),
    "lrn": ("float[1,1,2,2] x", "", f"LRN<size={HUGE}>(x)"),
    "depth_to_space": ("float[1,4,2,2] x", "", f"DepthToSpace<blocksize={HUGE}>(x)"),
    "space_to_depth": ("float[1,4,2,2] x", "", f"SpaceToDepth<blocksize={HUGE}>(x)"),
    "group_norm": ("float[1,4,2,2] x", "float[4] s = {1, 1, 1, 1}", f"GroupNormalization<num_groups={HUGE}>(x, s, s)"),
    "attention": ("float[1,2,4] x", "", f"Attention<q_num_heads={HUGE}, kv_num_heads={HUGE}>(x, x, x)"),
    "mat_mul_n_bits": ("float[1,16] x", "uint8[1,1,8] b = {0, 0, 0, 0, 0, 0, 0, 0}, float[1] s = {1}", f"com.microsoft.MatMulNBits<K=16, N={HUGE}, block_size=16>(x, b, s)"),
    "qkv_sizes": ("float[1,2,4] x", "float[4,12] w = {" + ", ".join(["1"] * 48) + "}", f"com.microsoft.Attention<num_heads=2, qkv_hidden_sizes=[{HUGE}, {HUGE}, 4]>(x, w)"),
    "contrib_pad": ("float[4] x", f"int64[2] p = {{0, {HUGE}}}", "com.microsoft.Pad(x, p)"),
    "contrib_range": ("float[4] x", f"float a = {{0}}, float b = {{{float(HUGE)}}}", "com.microsoft.Range(a, b)"),
}
# LRN adds up no more channels than there are.
ACCEPTED = {"lrn"}


def text_of(inputs, constants, nodes):
    opset = 23 if "Attention<q_num" in nodes else 20
    body = nodes if "y = " in nodes or "y, " in nodes else f"y = {nodes}"
    extra = f" <{constants}>" if constants else ""
    return (f'<ir_version: 10, opset_import: ["" : {opset}, "ai.onnx.ml" : 3, "com.microsoft" : 1]>\n'
            f"g ({inputs}) => (float[] y){extra} {{ {body} }}\n")


def run(program, arguments, folder):
    process = subprocess.Popen([program, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024, text


def main():
    program = os.path.abspath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, case in CASES.items():
            if len(sys.argv) > 2 and name not in sys.argv[2:]:
                continue
            (folder / f"{name}.onnxtxt").write_text(text_of(*case))
            for backend in ("--ref", "--engine"):
                status, megabytes, text = run(program, ["run", f"{name}.onnxtxt", backend], folder)
                said = [line for line in text.splitlines() if line.startswith(("[!]", "[E]"))]
                problems = []
                if status != (0 if name in ACCEPTED else 1):
                    problems.append(f"exit status {status}")
                if megabytes > LIMIT_MB:
                    problems.append(f"{megabytes:.0f} MB")
                if name not in ACCEPTED and not said:
                    problems.append("no sentence")
                if any(word in text for word in ("Internal error", "the plan is wrong", "bad_alloc", "expected", "unexpected failure")):
                    problems.append("a sentence of ours")
                if problems:
                    failed += 1
                    print(f"FAILED  {name} {backend}: {', '.join(problems)}\n{text}")
                elif len(sys.argv) > 2:
                    print(f"{megabytes:6.0f} MB  {name} {backend}: {said[:1]}")
    print("passed" if not failed else f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
