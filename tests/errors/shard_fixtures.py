"""Models to shard and hints, good and bad, for the cases of `template shard-hints` and `multi-device shard`."""

import json

HEAD = '<ir_version: 8, opset_import: ["" : 17, "trt" : 1]>\n'
LAYER = """  [tr] kt = Transpose <perm = [0, 2, 1]> (k)
  [mm1] s = MatMul (q, kt)
  [sm] p = Softmax <axis = -1> (s)
  [mm2] o = MatMul (p, v)
"""


def attention(extent, last="  [act] y = Relu (o)\n", constants=""):
    t = f"float[2, {extent}, 8]"
    return f"{HEAD}attention ({t} q, {t} k, {t} v) => ({t} y) {constants}{{\n{LAYER}{last}}}\n"


def weight(name, rows, columns):
    return f"float[{rows}, {columns}] {name} = {{{', '.join(['0.5'] * (rows * columns))}}}"


def tensor_parallel(q="MatMul (x, wq)", heads=4, last="", outputs="", k="MatMul (x, wk)"):
    weights = [weight(*w) for w in (("wq", 8, 8), ("wk", 8, 4), ("wv", 8, 4), ("wo", 8, 8))]
    return f"""{HEAD}tp (float[1, 3, 8] x, float[1, 2, 2, 5, 2] past, int32[1] len) => (float[1, 3, 8] y, float[1, 2, 2, 5, 2] present{outputs})
<{', '.join(weights)}> {{
  [q_proj] q = {q}
  [k_proj] k = {k}
  [v_proj] v = MatMul (x, wv)
  [att] a, present = trt.AttentionPlugin <num_q_heads = {heads}, num_kv_heads = 2> (q, k, v, past, len)
  [o_proj] y = MatMul (a, wo)
{last}}}
"""


def hints(q="q", inputs=("q", "k", "v"), outputs=("y",), index=1, rank=3, **changes):
    tensor = lambda name: {"name": name, "seq_len_idx": index, "rank": rank, "polygraphy_class": "ShardTensor"}
    layers = [{"q": q, "gather_kv": True, "gather_q": False, "replace": None, "polygraphy_class": "AttentionLayerHint"}]
    collectives = {"group_size": 0, "root": -1, "nb_rank": 2, "reduce_op": "max", "groups": [], "polygraphy_class": "DistCollective"}
    whole = {"parallelism": "CP", "attention_layers": layers, "dist_collectives": collectives, "inputs": list(map(tensor, inputs)),
             "outputs": list(map(tensor, outputs)), "k_seq_len_idx": 2, "v_seq_len_idx": 1, "kv_rank": 3, "polygraphy_class": "ShardHints"}
    whole.update(changes)
    return json.dumps({key: value for key, value in whole.items() if value != "left out"})


def write_sharding(write):
    write("attention.onnxtxt", attention("sequence_length"))
    write("attention_3.onnxtxt", attention(3))
    write("attention_fixed.onnxtxt", attention(4, "  [flat] y = Reshape (o, whole)\n", "<int64[3] whole = {2, 4, 8}> "))
    write("tp.onnxtxt", tensor_parallel())
    write("tp_heads.onnxtxt", tensor_parallel(heads=3))
    write("tp_computed.onnxtxt", tensor_parallel(q="MatMul (x, x)"))
    write("tp_leak.onnxtxt", tensor_parallel(last="  [leak] z = Relu (q)\n", outputs=", float[1, 3, 8] z"))
    write("tp_no_matmul.onnxtxt", tensor_parallel(k="Relu (x)"))
    for name, text in {
        "good": hints(), "other_q": hints(q="query"), "other_input": hints(inputs=("Q",)), "other_output": hints(outputs=("z",)),
        "twice": hints(inputs=("q", "q")), "far": hints(index=5), "wrong_rank": hints(rank=4), "negative": hints(index=-1),
        "no_layers": hints(attention_layers="left out"), "no_collectives": hints(dist_collectives="left out"),
        "wrong_mode": hints(parallelism="XP"), "wrong_class": hints(polygraphy_class="RunResults"), "no_layer": hints(q="k"),
        "empty": hints(inputs=(), outputs=(), attention_layers=[]), "damaged": hints()[:100], "list": "[1]",
        "wrong_op": hints(dist_collectives={"reduce_op": "median"}), "no_ranks": hints(dist_collectives={"nb_rank": 0}),
        "wrong_type": hints(kv_rank="three"), "typed": hints(attention_layers=[], inputs=("x",), outputs=("y",), index=0, rank=2,
                                                             dist_collectives={"nb_rank": 1}),
        "old": hints(dist_collectives="left out", group_size=2, root=0, groups=[], reduce_scatter_reduce_op="max"),
    }.items():
        write(f"hints_{name}.json", text)
