"""The table of docs/reference/contrib-operators.md: every operator for which ONNX Runtime's CPU provider has a kernel, and what is not here, why not."""

import re

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
# Those that are not here, by why.
REASONS = {
    "generation loops that hold whole models as attributes; their parts are models that can be checked":
        "BeamSearch GreedySearch Sampling WhisperBeamSearch",
    "parts of single families of language models (experts, linear attention with states, hashed n-grams), as ONNX Runtime GenAI's builder "
    "writes them: ONNX Runtime evaluates these nodes, and what is around them is judged and proven":
        "BranchwiseRMSNorm CausalConvWithState EngramGate GatedAdd GatedRMSNorm HyperConnectionPostMix HyperConnectionPreMix LinearAttention "
        "LinearAttentionGate MRotaryEmbedding MoE NGramHashMapping QMoE ScaledSiLU VarlenNGramHashMapping",
    "its CPU kernel runs only where the caller binds the past and the present to the same memory, which no model file can ask for":
        "SparseAttention",
    "superseded: current tools write the standard's operator, or MatMulNBits, instead":
        "AttnLSTM ConvTransposeWithDynamicPads CropAndResize GatherND MatMulFpQ4 MaxpoolWithMask SparseToDenseMatMul Tokenizer "
        "WordConvEmbedding",
    "steps of a decoder's search, of integers and strings of tokens": "BifurcationDetector DynamicTimeWarping UnfoldTensor",
    "made for ONNX Runtime's own tests": "SampleOp",
    "layouts inside one machine's optimized file: `onnxruntime` says itself that such a file is for the machine that wrote it":
        "nchwc.AveragePool nchwc.Conv nchwc.GlobalAveragePool nchwc.GlobalMaxPool nchwc.MaxPool nchwc.ReorderInput nchwc.ReorderOutput "
        "nchwc.Upsample",
}
BEGIN, END = "<!-- kernels: tests/contrib/schemas_test.py --write -->", "<!-- end of kernels -->"


def label(domain, name):
    return name if domain == "com.microsoft" else f"{domain.removeprefix('com.microsoft.')}.{name}"


def table(version, kernels, here):
    """`kernels`: pairs of domain and name; `here`: those of them that we have. Throws ValueError when an operator has no reason, or a reason
    no operator."""
    known = {label(*k) for k in kernels}
    ours = sorted((label(*k) for k in kernels & here), key=str.lower)
    reason_of = {name: reason for reason, names in REASONS.items() for name in names.split()}
    missing = known - set(ours)
    if unexplained := missing - reason_of.keys():
        raise ValueError(f"neither here nor explained in tests/contrib/listing.py: {' '.join(sorted(unexplained))}")
    if stale := reason_of.keys() - missing:
        raise ValueError(f"explained in tests/contrib/listing.py, but here or no kernel: {' '.join(sorted(stale))}")
    lines = [BEGIN, "", f"ONNX Runtime {version} has CPU kernels for {len(known)} operators of these domains. {len(ours)} of them are here:", "",
             ", ".join(ours) + ".", "", "| not here | why |", "|---|---|"]
    for reason, names in REASONS.items():
        lines.append(f"| {', '.join(sorted(names.split(), key=str.lower))} | {reason} |")
    return "\n".join([*lines, "", END])


def replaced(document, text):
    """The document with its table."""
    return re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: text, document, flags=re.DOTALL)
