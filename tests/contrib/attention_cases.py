"""Cases of the attention operators."""

import numpy as np

from case import Case
from quantized_cases import weights

F = np.float32
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
B, S, N, H = 2, 3, 2, 4


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(F)


def masks(total, queries=S):
    """Name and mask for B sequences."""
    lengths = np.array([total - 1, total], np.int32)
    keys = np.ones((B, total), np.int32)
    keys[0, -1] = 0
    rows = np.tile(keys[:, None, :], (1, queries, 1))
    rows[1, 0, 0] = 0
    return {"lengths": lengths, "ends_starts": np.concatenate([lengths, np.array([0, 1], np.int32)]), "keys": keys, "rows": rows,
            "dummy": np.ones((B, 1), np.int32)}


def attention(rng):
    x, w, b = normal(rng, B, S, 6), normal(rng, 6, 3 * N * H), normal(rng, 3 * N * H)
    heads = {"num_heads": N}
    yield Case("plain", "Attention", [x, w, b], heads, **CLOSE)
    yield Case("causal", "Attention", [x, w, b], {**heads, "unidirectional": 1, "scale": 0.3}, **CLOSE)
    for name, mask in masks(S).items():
        yield Case(name, "Attention", [x, w, b, mask], heads, **CLOSE)
        yield Case(f"{name}_causal", "Attention", [x, w, b, mask], {**heads, "unidirectional": 1}, **CLOSE)
    all_masked = np.zeros((B, S), np.int32)
    # -10000 on every score leaves it with an error of 1e-3 in float32.
    yield Case("all_masked", "Attention", [x, w, b, all_masked], heads, rtol=1e-2, atol=1e-3)
    yield Case("filter", "Attention", [x, w, b, masks(S)["keys"]], {**heads, "mask_filter_value": -1.5}, **CLOSE)
    past = normal(rng, 2, B, N, 5, H)
    yield Case("past", "Attention", [x, w, b, None, past], {**heads, "unidirectional": 1}, (True, True), **CLOSE)
    yield Case("past_mask", "Attention", [x, w, b, masks(S + 5)["keys"], past], heads, (True, True), **CLOSE)
    yield Case("bias", "Attention", [x, w, b, None, None, normal(rng, B, N, S, S)], heads, **CLOSE)
    yield Case("bias_broadcast", "Attention", [x, w, b, masks(S)["lengths"], None, normal(rng, 1, N, S, S)], heads, **CLOSE)
    yield Case("hidden_sizes", "Attention", [x, normal(rng, 6, 8 + 8 + 12), normal(rng, 28)],
               {**heads, "qkv_hidden_sizes": [8, 8, 12]}, **CLOSE)


def quantized_attention(rng):
    for w_type in (np.uint8, np.int8):
        x = rng.integers(0, 256, (B, S, 8), dtype=np.uint8)
        w = weights(rng, (8, 3 * N * H), w_type)
        b = normal(rng, 3 * N * H)
        zeros = [np.array(120, np.uint8), np.array(5, w_type)]
        scales = [F(0.01), F(0.008)]
        yield Case(w_type.__name__, "QAttention", [x, w, b, *scales, None, *zeros], {"num_heads": N}, **CLOSE)
        yield Case(f"{w_type.__name__}_mask", "QAttention", [x, w, b, *scales, masks(S)["lengths"], *zeros], {"num_heads": N}, **CLOSE)
        columns = rng.uniform(0.004, 0.01, 3 * N * H).astype(F)
        yield Case(f"{w_type.__name__}_columns", "QAttention",
                   [x, w, b, scales[0], columns, None, zeros[0], rng.integers(0, 9, 3 * N * H).astype(w_type)], {"num_heads": N},
                   constant=(1,), **CLOSE)
        yield Case(f"{w_type.__name__}_past", "QAttention", [x, w, b, *scales, None, *zeros, normal(rng, 2, B, N, 2, H)],
                   {"num_heads": N, "unidirectional": 1}, (True, True), **CLOSE)


def multi_head(rng):
    L = 5
    q, k, v = normal(rng, B, S, N * H), normal(rng, B, L, N * H), normal(rng, B, L, N * 3)
    bias = normal(rng, 2 * N * H + N * 3)
    heads = {"num_heads": N}
    op = "MultiHeadAttention"
    yield Case("plain", op, [q, k, v], heads, **CLOSE)
    yield Case("bias", op, [q, k, v, bias], {**heads, "scale": 0.4}, **CLOSE)
    for name in ("lengths", "keys", "rows"):
        yield Case(name, op, [q, k, v, bias, masks(L)[name]], heads, **CLOSE)
    yield Case("score_bias", op, [q, k, v, None, None, normal(rng, B, N, S, L)], heads, **CLOSE)
    yield Case("score_bias_broadcast", op, [q, k, v, None, masks(L)["keys"], normal(rng, 1, 1, S, L)], heads, **CLOSE)
    own = [normal(rng, B, S, N * H) for _ in range(3)]
    yield Case("causal", op, own, {**heads, "unidirectional": 1}, **CLOSE)
    yield Case("scores", op, own + [None, masks(S)["keys"]], heads, (True, False, False, True), **CLOSE)
    past = [normal(rng, B, N, 4, H), normal(rng, B, N, 4, H)]
    yield Case("past", op, own + [None, None, None, *past], {**heads, "unidirectional": 1}, (True, True, True), **CLOSE)
    yield Case("past_mask", op, own + [None, masks(S + 4)["keys"], None, *past], heads, (True, True, True), **CLOSE)
    yield Case("cross", op, [q, normal(rng, B, N, L, H), normal(rng, B, N, L, H)], heads, **CLOSE)
    # Packed forms have no CPU kernel: they are the same as the parts.
    parts = [normal(rng, B, S, N, H) for _ in range(3)]
    flat = [x.reshape(B, S, N * H) for x in parts]
    same = list(Case("parts", op, flat, heads).results()[1].values())
    yield Case("packed_kv", op, [flat[0], np.stack(parts[1:], 3)], heads, expected=same, **CLOSE)
    yield Case("packed_qkv", op, [np.stack(parts, 3)], heads, expected=same, **CLOSE)


def decoder(rng):
    op, heads = "DecoderMaskedMultiHeadAttention", {"num_heads": N}
    q = normal(rng, B, 1, N * H)
    yield Case("cross", op, [q, normal(rng, B, N, 5, H), normal(rng, B, N, 5, H)], heads, **CLOSE)
    new = [normal(rng, B, 1, N * H), normal(rng, B, 1, N * H)]
    past = [normal(rng, B, N, 7, H), normal(rng, B, N, 7, H)]
    for name, mask in (("cache", None), ("cache_mask", np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 1]], np.int32))):
        yield Case(name, op, [q, *new, mask, None, *past, np.array([4], np.int32)], {**heads, "past_present_share_buffer": 1},
                   (True, True, True), **CLOSE)


def tables(positions, size):
    angles = np.arange(positions)[:, None] / 100.0 ** (np.arange(size // 2) / (size // 2))[None, :]
    return [np.cos(angles).astype(F), np.sin(angles).astype(F)]


def rotary(rng):
    x = normal(rng, B, S, 2 * 8)
    ids = np.array([[0, 1, 2], [4, 5, 6]], np.int64)
    for interleaved in (0, 1):
        yield Case(f"interleaved{interleaved}", "RotaryEmbedding", [x, ids, *tables(9, 8)], {"interleaved": interleaved}, **CLOSE)
        yield Case(f"offset{interleaved}", "RotaryEmbedding", [x, np.array([3], np.int64), *tables(9, 8)], {"interleaved": interleaved},
                   **CLOSE)
    yield Case("partial", "RotaryEmbedding", [x, ids, *tables(9, 4)], {"num_heads": 2, "rotary_embedding_dim": 4}, **CLOSE)
    yield Case("heads_first", "RotaryEmbedding", [normal(rng, B, 2, S, 8), ids, *tables(9, 8)], {}, **CLOSE)


def grouped(rng):
    op, size, q_heads, kv_heads = "GroupQueryAttention", 16, 4, 2
    heads = {"num_heads": q_heads, "kv_num_heads": kv_heads}

    def inputs(queries, past, lengths, total, batch=B):
        qkv = [normal(rng, batch, queries, n * size) for n in (q_heads, kv_heads, kv_heads)]
        cache = [normal(rng, batch, kv_heads, past, size) for _ in range(2)] if past else [None, None]
        return qkv + cache + [np.array(lengths, np.int32), np.array([total], np.int32)]

    outputs = (True, True, True)
    prompt = inputs(6, 0, [5, 5], 6)
    yield Case("prompt", op, prompt, heads, outputs, **CLOSE)
    yield Case("scale", op, prompt, {**heads, "scale": 0.2}, outputs, **CLOSE)
    yield Case("packed", op, [np.concatenate(prompt[:3], -1), None, None, *prompt[3:]], heads, outputs, **CLOSE)
    yield Case("window", op, prompt, {**heads, "local_window_size": 2}, outputs, **CLOSE)
    yield Case("softcap", op, prompt, {**heads, "softcap": 1.5}, outputs, **CLOSE)
    yield Case("smooth", op, prompt, {**heads, "smooth_softmax": 1}, outputs, **CLOSE)
    sink = [None] * 4 + [normal(rng, q_heads)]
    yield Case("sink", op, prompt + sink, heads, outputs, **CLOSE)
    yield Case("score_bias", op, prompt + [None, None, None, normal(rng, 1, q_heads, 6, 6)], heads, outputs, **CLOSE)
    for which in (1, 2):
        yield Case(f"scores{which}", op, prompt, {**heads, "qk_output": which}, (True, True, True, True), **CLOSE)
        yield Case(f"scores{which}_window", op, prompt, {**heads, "qk_output": which, "local_window_size": 2, "softcap": 0.5},
                   (True, True, True, True), **CLOSE)
    for interleaved in (0, 1):
        rotated = {**heads, "do_rotary": 1, "rotary_interleaved": interleaved}
        yield Case(f"rotary{interleaved}", op, prompt + tables(20, size), rotated, outputs, **CLOSE)
        decode = inputs(1, 9, [6, 4], 7)
        yield Case(f"decode_rotary{interleaved}", op, decode + tables(20, size), rotated, outputs, **CLOSE)
        packed = [np.concatenate(decode[:3], -1), None, None, *decode[3:]]
        yield Case(f"decode_packed_rotary{interleaved}", op, packed + tables(20, size), rotated, outputs, **CLOSE)
    yield Case("decode", op, inputs(1, 6, [6, 3], 7), heads, outputs, **CLOSE)
    yield Case("decode_window", op, inputs(1, 9, [8, 6], 9), {**heads, "local_window_size": 3, "smooth_softmax": 1}, outputs, **CLOSE)
    yield Case("second_prompt", op, inputs(3, 5, [7], 8, 1), heads, outputs, **CLOSE)
    yield Case("second_prompt_rotary", op, inputs(3, 5, [7], 8, 1) + tables(20, size) + [np.array([[5, 6, 7]], np.int64)],
               {**heads, "do_rotary": 1}, outputs, **CLOSE)


def cases():
    for index, make in enumerate((attention, quantized_attention, multi_head, decoder, rotary, grouped)):
        yield from make(np.random.default_rng(300 + index))
