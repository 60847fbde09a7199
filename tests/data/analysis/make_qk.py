"""Writes qk.txt.gz: `python3 make_qk.py | gzip -9n > qk.txt.gz`.

An independent computation of the QK decomposition: every pair (query, key) is formed, self pairs are skipped in
the loop, and the split is taken from its definition (docs/measurements.md 2.1 and 6). Plain Python, no Buoy code.
"""

import math
import random

T, H, V, D, L = 14, 2, 1, 4, 2
rng = random.Random(4)


def rounded(x):  # what float32 keeps, roughly; the test compares to 1e-5
    return float("%.8g" % x)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def norm(a):
    return math.sqrt(dot(a, a))


def rotate(vector, position):
    out = list(vector)
    for pair in range(D // 2):
        angle = position / 10 ** pair
        c, s = math.cos(angle), math.sin(angle)
        x, y = vector[2 * pair], vector[2 * pair + 1]
        out[2 * pair], out[2 * pair + 1] = x * c - y * s, x * s + y * c
    return out


def draw_layer(layer):
    """Queries that lean one way; key 5 leans the same way (layer 0) or is also longer (layer 1)."""
    lean = [1.0, 0.5, 1.0, 0.5]
    q = [[[rng.gauss(0, 0.3) + lean[d] for d in range(D)] for _ in range(H)] for _ in range(T)]
    k = [[[rng.gauss(0, 0.6) for d in range(D)] for _ in range(V)] for _ in range(T)]
    k[5][0] = [(4 if layer else 2) * x for x in lean]
    return q, k


def means(q, k, causal):
    """Of every head and key: mean over the other queries of q.k, cos, |q||k|; and what a trace stores."""
    pure, stored = [], []
    for h in range(H):
        columns, kept = [], []
        for j in range(T):
            rows = [i for i in range(T) if i >= j or not causal]
            key = k[j][h // (H // V)]
            value = lambda i: (dot(q[i][h], key), dot(q[i][h], key) / (norm(q[i][h]) * norm(key)),
                               norm(q[i][h]) * norm(key))
            all_rows = [value(i) for i in rows]
            kept.append([sum(v[n] for v in all_rows) / len(rows) for n in range(3)] + [value(j)[0]])
            others = [value(i) for i in rows if i != j]
            if others:
                columns.append([sum(v[n] for v in others) / len(others) for n in range(3)])
        pure.append(columns)
        stored.append(kept)
    return pure, stored


def attention(q, k, causal):
    """Received attention in which key 5 floats: of the vectors before rotation, sharpened. The analysis takes it as
    given; it need not be that of the rotated vectors."""
    received = []
    for h in range(H):
        sums = [0.0] * T
        for i in range(T):
            keys = range(i + 1) if causal else range(T)
            weights = [math.exp(3 * dot(q[i][h], k[j][h // (H // V)]) / math.sqrt(D)) for j in keys]
            for j in keys:
                sums[j] += weights[j] / sum(weights)
        received.append(sums)
    return received


def three_sigma(values):
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [j for j, v in enumerate(values) if v > mean + 3 * deviation]


def contrast(columns, floating, strongest):
    inside = [j for j in floating if j < len(columns)]
    outside = [j for j in range(len(columns)) if j not in inside]
    if not inside or not outside:
        return None
    f = [sum(columns[j][n] for j in inside) / len(inside) for n in range(3)]
    o = [sum(columns[j][n] for j in outside) / len(outside) for n in range(3)]
    sd = [math.sqrt(sum((columns[j][n] - o[n]) ** 2 for j in outside) / len(outside)) for n in range(3)]
    (sf, cf, nf), (so, co, no) = f, o
    out = dict(floating_columns=len(inside), advantage=sf - so, scale=(nf - no) * (cf + co) / 2,
               direction=(cf - co) * (nf + no) / 2, residual=(sf - nf * cf) - (so - no * co),
               scale_at_others=(nf - no) * co, direction_at_others=no * (cf - co), both=(nf - no) * (cf - co),
               dot_floating=sf, cosine_other=co, norm_floating=nf,
               z_dot=(sf - so) / sd[0], z_cosine=(cf - co) / sd[1], z_norm=(nf - no) / sd[2])
    out["fraction_angle"] = out["direction"] / out["advantage"] if out["advantage"] > 0 else None
    for n, name in enumerate(["dot", "cosine", "norm"]):
        above = sum(c[n] > columns[strongest][n] for c in columns)
        out["rank_" + name] = above / (len(columns) - 1)
    return out


def show(x):
    return "" if x is None else (str(x) if isinstance(x, (int, str)) else "%.7g~%.1g" % (x, max(2e-5, 2e-5 * abs(x))))


def write_array(kind, name, shape, values):
    print("%s %s [%s] %s" % (kind, name, ",".join(map(str, shape)),
                             " ".join("%.8g" % v if isinstance(v, float) else str(v) for v in values)))


COLUMNS = ["advantage", "scale", "direction", "residual", "scale_at_others", "direction_at_others", "both",
           "fraction_angle", "floating_columns", "dot_floating", "cosine_other", "norm_floating", "z_dot",
           "z_cosine", "z_norm", "rank_dot", "rank_cosine", "rank_norm"]


def lift_set(shares):
    """Three sigma of received over max(1/T, what even causal attention gives)."""
    null = [sum(1 / (i + 1) for i in range(j, T)) / T for j in range(T)]
    return three_sigma([a / max(1 / T, n) for a, n in zip(shares, null)])


def sets_of(received, h):
    shares = [x / T for x in received[h]]
    mean = [sum(head[j] for head in received) / H / T for j in range(T)]
    top = shares.index(max(shares))
    return [("three_sigma_head", three_sigma(shares), top),
            ("three_sigma_head_mean", three_sigma(mean), mean.index(max(mean))), ("top_1", [top], top),
            ("three_sigma_lift", lift_set(shares), max(lift_set(shares), key=lambda j: shares[j], default=-1))]


def average(contrasts):
    """Of contrasts of steps or heads, passing over empty sets; the fraction is that of the means."""
    contrasts = [c for c in contrasts if c is not None]
    if not contrasts:
        return None
    out = {key: sum(c[key] for c in contrasts) / len(contrasts) for key in contrasts[0] if key != "fraction_angle"}
    out["fraction_angle"] = out["direction"] / out["advantage"] if out["advantage"] > 0 else None
    return out


def draw_slice(step, layer, causal):
    q, k = draw_layer((step + layer) % 2)
    turned = [[rotate(x, i) for x in heads] for i, heads in enumerate(q)]
    turned_keys = [[rotate(x, j) for x in heads] for j, heads in enumerate(k)]
    before, before_stored = means(q, k, causal)
    after, after_stored = means(turned, turned_keys, causal)
    return dict(before=before, after=after, stored=dict(before=before_stored, after=after_stored), q=turned,
                k=turned_keys, received=attention(q, k, causal))


def trace(name, causal, steps):
    print("\ntrace %s\nmodel layers=%d heads=%d kv_heads=%d head_dim=%d\nsample one" % (name, L, H, V, D))
    print("text prompt_length 10\ntext attention %s" % ("causal" if causal else "bidirectional"))
    write_array("ints", "tokens", [T], list(range(100, 100 + T)))
    write_array("ints", "steps", [steps], list(range(steps)))
    write_array("ints", "layers", [L], list(range(L)))
    write_array("ints", "group_sizes", [steps, 1], [T] * steps)
    slices = [[draw_slice(s, l, causal) for l in range(L)] for s in range(steps)]
    arrays = {}
    for s in range(steps):
        for l, data in enumerate(slices[s]):
            for stage in ("before", "after"):
                for n, part in enumerate(["dot", "cosine", "norm_product", "self_dot"]):
                    arrays.setdefault("qk_%s_%s" % (stage, part), []).extend(
                        c[n] for head in data["stored"][stage] for c in head)
            arrays.setdefault("query_norm", []).extend(norm(data["q"][i][h]) for h in range(H) for i in range(T))
            arrays.setdefault("key_norm", []).extend(norm(data["k"][j][v]) for v in range(V) for j in range(T))
            arrays.setdefault("received", []).extend(x for head in data["received"] for x in head)
            if s == steps - 1:
                arrays["queries_step%d_layer%d" % (s, l)] = [x for row in data["q"] for head in row for x in head]
                arrays["keys_step%d_layer%d" % (s, l)] = [x for row in data["k"] for head in row for x in head]
    for array, values in arrays.items():
        shape = ([steps, L, 1, H, T] if array == "received" else [steps, L, V, T] if array == "key_norm"
                 else [T, H, D] if array.startswith("queries") else [T, V, D] if array.startswith("keys")
                 else [steps, L, H, T])
        write_array("floats", array, shape, [rounded(v) for v in values])

    def of(s, l, h, way, stage):
        _, floating, strongest = sets_of(slices[s][l]["received"], h)[way]
        return contrast(slices[s][l][stage][h], floating, strongest)

    names = ["three_sigma_head", "three_sigma_head_mean", "top_1"] + (["three_sigma_lift"] if causal else [])
    print("\nanalyze qk %s layer=1 head=0 replicates=10" % name)
    for stage in ("after", "before"):
        print("\n# Every pair formed, self pairs skipped, the split from its definition, mean over steps (make_qk.py).")
        print("expect qk_by_head stage=%s" % stage)
        print(",".join(["layer", "head", "set", "samples"] + COLUMNS))
        for l in range(L):
            for h in range(H):
                for way in range(len(names)):
                    c = average([of(s, l, h, way, stage) for s in range(steps)])
                    if c is not None:
                        print(",".join([str(l), str(h), names[way], "1"] + [show(c[x]) for x in COLUMNS]))
        print("\n# The mean of those over heads; one sample, so no intervals.")
        print("expect qk_by_layer stage=%s\nlayer,set,advantage,advantage_lower,advantage_logit,%s" % (
            stage, ",".join(COLUMNS[1:])))
        for l in range(L):
            for way in range(len(names)):
                c = average([average([of(s, l, h, way, stage) for s in range(steps)]) for h in range(H)])
                if c is not None:
                    print(",".join([str(l), names[way], show(c["advantage"]), "", show(c["advantage"] / math.sqrt(D))] +
                                   [show(c[x]) for x in COLUMNS[1:]]))
    print("\n# The mean over heads of each step.")
    print("expect qk_by_step\nstep,layer,advantage,scale,direction,residual,fraction_angle")
    for s in range(steps):
        for l in range(L):
            c = average([of(s, l, h, 0, "after") for h in range(H)])
            if c is not None:
                print(",".join([str(s), str(l)] + [show(c[x]) for x in COLUMNS[:4] + ["fraction_angle"]]))
    last = slices[-1]
    print("\n# The columns of the last step, layer 1, head 0, as the same loop gives them.")
    print("expect qk_columns stage=after\nstep,position,dot,cosine,norm_product,residual")
    for j, (s, c, n) in enumerate(last[1]["after"][0]):
        print(",".join([str(steps - 1), str(j)] + [show(x) for x in (s, c, n, s - n * c)]))
    q, k = last[1]["q"], last[1]["k"]
    print("\n# Single pairs of layer 1, head 0: dot, cosine and norms of the stored vectors.")
    print("expect qk_pairs query=9\nkey,dot,cosine,norm_product")
    for j in range(10 if causal else T):
        a, b = q[9][0], k[j][0]
        print(",".join([str(j)] + [show(x) for x in (dot(a, b), dot(a, b) / norm(a) / norm(b), norm(a) * norm(b))]))

    def published():
        print("expect qk_published source=trace\nlayer,panel,position,floating,others,others_deviation,rank")
        for layer, data in enumerate(last):
            received, q, k = data["received"], data["q"], data["k"]
            mean = [sum(head[j] for head in received) / H / T for j in range(T)]
            floating = three_sigma(mean) or [mean.index(max(mean))]
            qm = [[sum(head[d] for head in row) / H for d in range(D)] for row in q]
            km = [[sum(head[d] for head in row) / V for d in range(D)] for row in k]
            for position in floating:
                for panel, pair in (("dot", dot), ("cosine", lambda a, b: dot(a, b) / norm(a) / norm(b)),
                                    ("norm_product", lambda a, b: norm(a) * norm(b))):
                    columns = []
                    for j in range(T):
                        rows = [i for i in range(8, T) if i >= j or not causal]
                        columns.append(sum(pair(qm[i], km[j]) for i in rows) / len(rows))
                    others = [columns[j] for j in range(T) if j not in floating]
                    m = sum(others) / len(others)
                    sd = math.sqrt(sum((x - m) ** 2 for x in others) / len(others))
                    rank = 1 + sum(x > columns[position] for x in columns)
                    print(",".join([str(layer), panel, str(position), show(columns[position]), show(m), show(sd), str(rank)]))

    print("\n# Published form: vectors averaged over heads, then pairs of rows 8 to 13 (51 is past the end), self")
    print("# pairs included; floating by three sigma of the head mean, all columns that have a row.")
    published()
    print("\n# A rotation changes no length.")
    print("expect qk_rotation_check\nlayer,largest_change,agrees")
    for layer in range(L):
        print("%d,0~1e-6,yes" % layer)
    print("\n# The published form keeps its three deviations, whatever epsilon the other sets have.")
    print("analyze qk %s replicates=10 epsilon=0.1" % name)
    published()


print("# QK decomposition. Written by make_qk.py, which computes every number below from all pairs; do not edit.")
trace("full", False, 2)
trace("causal", True, 1)
print("""
# What is missing is named together with the --observe that brings it.
trace plain
sample one
text prompt_length 1
text attention bidirectional
ints tokens [2] 5 6
ints steps [1] 0
ints layers [1] 0
ints group_sizes [1,1] 2
floats received [1,1,1,1,2] 1 1
analyze qk plain
error trace again with qk among --observe

trace nothing
sample one
text prompt_length 1
text attention bidirectional
ints tokens [2] 5 6
ints steps [1] 0
ints layers [1] 0
analyze qk nothing
error trace again with received among --observe

trace unnormed
sample one
text prompt_length 1
text attention bidirectional
ints tokens [2] 5 6
ints steps [1] 0
ints layers [1] 0
ints group_sizes [1,1] 2
floats received [1,1,1,1,2] 1 1
floats qk_after_dot [1,1,1,2] 1 1
floats qk_after_cosine [1,1,1,2] 1 1
floats qk_after_norm_product [1,1,1,2] 1 1
floats qk_after_self_dot [1,1,1,2] 1 1
floats qk_before_dot [1,1,1,2] 1 1
floats qk_before_cosine [1,1,1,2] 1 1
floats qk_before_norm_product [1,1,1,2] 1 1
floats qk_before_self_dot [1,1,1,2] 1 1
analyze qk unnormed
error trace again with norms among --observe""")
