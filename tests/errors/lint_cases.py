"""What `check lint` says of models with faults: every line of each, in order. Add yours.

Each case is a model in ONNX's text form, the exit code, and what follows `LINT | ` in the findings, with the letter of their level.
"""


def model(body, values="", opset=17, more="", after="", inputs="float[2, 3] x", out="float[2, 3] y"):
    return f'<ir_version: 8, opset_import: ["" : {opset}{more}]>\ng ({inputs}) => ({out})\n{values}\n{{\n{body}\n}}\n{after}'


CASES = {
    "mixed_types": (
        model("[n] y = Add (x, i)", inputs="float[2, 3] x, int64[2, 3] i"),
        1, [
            "E Name: n, Op: Add | the inputs of Add-14 that share type T differ: 'i' is int64, another is float",
        ]),
    "wrong_input_type": (
        model("[n] y = Relu (s)", inputs="string[2] s", out="string[2] y"),
        1, [
            "E Name: n, Op: Relu | the input 'X' of Relu-14 ('s') is of type string, which is not one of float16, float, double, bfloat16, int32, int8, int16, int64",
        ]),
    "declared_type": (
        model("[n] h = Cast <to: int = 7> (x)\n[m] y = Cast <to: int = 1> (h)", "<float[2, 3] h>"),
        1, [
            "E Name: n, Op: Cast | 'h' is declared as float32[2, 3], but the node gives int64[2, 3]",
        ]),
    "output_type": (
        model("[n] y = Relu (x)", out="int64[2, 3] y"),
        1, [
            "E Name: n, Op: Relu | 'y' is declared as int64[2, 3], but the node gives float32[2, 3]",
        ]),
    "output_shape": (
        model("[n] y = Relu (x)", out="float[3, 2] y"),
        1, [
            "E Name: n, Op: Relu | 'y' is declared with the shape (3, 2), but the node gives (2, 3)",
        ]),
    "attribute_type": (
        model("[n] y = Flatten <axis: float = 1.5> (x)"),
        1, [
            "E Name: n, Op: Flatten | the attribute 'axis' of Flatten-13 must be of type INT, not FLOAT",
        ]),
    "attribute_ints": (
        model("[n] y = Transpose <perm: int = 1> (x)", out="float[3,2] y"),
        1, [
            "E Name: n, Op: Transpose | the attribute 'perm' of Transpose-13 must be of type INTS, not INT",
        ]),
    "attribute_graph": (
        model("[n] y = LeakyRelu <alpha: string = \"a\"> (x)"),
        1, [
            "E Name: n, Op: LeakyRelu | the attribute 'alpha' of LeakyRelu-16 must be of type FLOAT, not STRING",
        ]),
    "attribute_value": (
        model("[n] y = Cast <to: int = 9999> (x)"),
        1, [
            "E Name: n, Op: Cast | the attribute 'to' names the unknown element type 9999",
        ]),
    "unused_names": (
        model("[n] y = Relu (x)\n[m] z = Neg (x)\n[k] w2 = Neg (z)", "<float w = {1}>", inputs="float[2, 3] x, float[2, 3] u"),
        0, [
            "W Input: 'u' does not affect outputs, can be removed.",
            "W Name: k, Op: Neg | Does not affect outputs, can be removed.",
            "W Name: m, Op: Neg | Does not affect outputs, can be removed.",
            "W initializer 'w' is never used",
        ]),
    "shadowed": (
        model("[n] h = Relu (x)\n[m] y = If (c) <then_branch: graph = t () => (float[2, 3] h) { h = Neg (x) }, else_branch: graph = e () => (float[2, 3] b) { b = Add (h, x) }>", inputs="float[2, 3] x, bool c"),
        1, [
            "E Name: m, Op: If | in 'then_branch' of node 'm' (If): at node (Neg) producing 'h': 'h' is a node output here, and a value of an enclosing graph has that name; names of node outputs must differ from all that the graph sees",
        ]),
    "shadowed_input": (
        model("[m] y = Loop (k, c, x) <body: graph = b (int64 i, bool c, float[2,3] x) => (bool co, float[2, 3] o) { co = Identity (c) o = Neg (x) }>", inputs="float[2, 3] x, bool c, int64 k"),
        0, [
            "W Name: m, Op: Loop | in 'body' of node 'm' (Loop): 'c' is a graph input here and hides a value of an enclosing graph",
            "W Name: m, Op: Loop | in 'body' of node 'm' (Loop): 'x' is a graph input here and hides a value of an enclosing graph",
        ]),
    "new_operator": (
        model("[n] y = Gelu (x)"),
        1, [
            "E Name: n, Op: Gelu | Gelu exists since version 20 of the domain 'ai.onnx', but version 17 is imported",
        ]),
    "removed_operator": (
        model("[n] y = Upsample (x, s)", "<float[2] s = {1,1}>"),
        1, [
            "E Name: n, Op: Upsample | Upsample was withdrawn in opset 10; use Resize",
        ]),
    "removed_scatter": (
        model("[n] y = Scatter (x, i, x)", "<int64[2,3] i = {0,0,0,0,0,0}>"),
        1, [
            "E Name: n, Op: Scatter | Scatter was withdrawn in opset 11; use ScatterElements",
        ]),
    "old_attribute": (
        model("[n] y = Squeeze <axes: ints = [0]> (z)", inputs="float[1, 2, 3] z"),
        1, [
            "E Name: n, Op: Squeeze | Squeeze-13 has no attribute 'axes'",
        ]),
    "old_input": (
        model("[n] y = Squeeze (z, a)", "<int64[1] a = {0}>", inputs="float[1, 2, 3] z", opset=11),
        1, [
            "E Name: n, Op: Squeeze | Squeeze-11 takes 1 inputs, but 2 are given",
        ]),
    "old_type": (
        model("[n] y = Relu (x)", inputs="int32[2] x", out="int32[2] y", opset=13),
        1, [
            "E Name: n, Op: Relu | the input 'X' of Relu-13 ('x') is of type int32, which is not one of float16, float, double, bfloat16",
        ]),
    "function_opset": (
        model("[n] y = l.f (x)", more=', "l" : 1', after='<domain: "l", opset_import: ["" : 13]> f (a) => (b) { b = Relu (a) }'),
        0, [
            "W function 'f' imports version 13 of the domain 'ai.onnx', but the model imports 17",
        ]),
    "domain": (
        model("[n] y = com.x.Relu (x)"),
        0, [
            "W Name: n, Op: Relu | the model does not import the domain 'com.x' of the operator",
        ]),
    "several": (
        model("[a] p = Add (x)\n[b] q = Relu (nowhere)\n[d] r = Cast (x)\n[e] y = Concat <axis: float = 0.5> (p, q, r)\n[f] s = Gelu (x)\n[g2] t = MatMul (x, x)", "<float w = {1}>"),
        1, [
            "E Name: b, Op: Relu | the input 'nowhere' is not defined: no graph input, initializer or node output has that name",
            "E Name: a, Op: Add | Add-14 takes 2 inputs, but 1 are given",
            "E Name: d, Op: Cast | Cast-13 needs its attribute 'to'",
            "E Name: e, Op: Concat | the attribute 'axis' of Concat-13 must be of type INT, not FLOAT",
            "E Name: f, Op: Gelu | Gelu exists since version 20 of the domain 'ai.onnx', but version 17 is imported",
            "E Name: g2, Op: MatMul | the inner extents 3 and 2 differ",
            "W Name: f, Op: Gelu | Does not affect outputs, can be removed.",
            "W Name: g2, Op: MatMul | Does not affect outputs, can be removed.",
            "W initializer 'w' is never used",
        ]),
    "broken_after_broken": (
        model("[a] p = MatMul (x, x)\n[b] q = Concat <axis: int = 5> (x, x)\n[c] r = Reshape (x, s)\n[d] y = Sum (p, q, r)","<int64[2] s = {4, 4}>"),
        1, [
            "E Name: a, Op: MatMul | the inner extents 3 and 2 differ",
            "E Name: b, Op: Concat | axis 5 is outside [-2, 2), the range for rank 2",
            "E Name: c, Op: Reshape | cannot reshape (2, 3) to (4, 4)",
        ]),
    "in_function": (
        model("[n] y = l.f (x)", more=', "l" : 1', after='<domain: "l", opset_import: ["" : 17]> f (a) => (b) { b = Relu <z: int = 1> (a) }'),
        1, [
            "E in function 'f': at node (Relu) producing 'b': Relu-14 has no attribute 'z'",
        ]),
    "in_branch": (
        model("[m] y = If (c) <then_branch: graph = t () => (float[2, 3] h) { [i] h = Flatten <axis: float = 1.0> (x) }, else_branch: graph = e () => (float[2, 3] b) { b = Add (x) }>", inputs="float[2, 3] x, bool c"),
        1, [
            "E Name: m, Op: If | in 'then_branch' of node 'm' (If): at node 'i' (Flatten): the attribute 'axis' of Flatten-13 must be of type INT, not FLOAT",
            "E Name: m, Op: If | in 'else_branch' of node 'm' (If): at node (Add) producing 'b': Add-14 takes 2 inputs, but 1 are given",
        ]),
}
