"""Writes flow_rollout.txt.gz: `python3 make_flow.py | gzip -9n > flow_rollout.txt.gz`.

An independent computation of region flow: whole T x T attention matrices of every step, layer and head are drawn,
and every number is summed from them; even attention goes through the same code as one more matrix. Plain Python, no
Buoy code.
"""

import random

rng = random.Random(9)
H, L, S = 2, 3, 2


def draw(T, causal):
    rows = []
    for i in range(T):
        keys = i + 1 if causal else T
        weights = [rng.random() ** 3 if j < keys else 0.0 for j in range(T)]
        rows.append([w / sum(weights) for w in weights])
    return rows


def even(T, causal):
    return [[1.0 / ((i + 1) if causal else T) if (j <= i or not causal) else 0.0 for j in range(T)] for i in range(T)]


def normalised(m):
    return [[x / sum(row) if sum(row) > 0 else 0.0 for x in row] for row in m]


def region_mass(matrix, spans, mean):
    """Published: sum over queries of a and keys of b, rows normalised. Mean pooling divides by the keys of b."""
    return normalised([[sum(matrix[i][j] for i in a for j in b) / (len(b) if mean else 1) for b in spans] for a in spans])


def rollout(matrices, spans, mean, depth):
    out = None
    for matrix in reversed(matrices[-depth:]):
        p = region_mass(matrix, spans, mean)
        m = normalised([[x + (a == b) for b, x in enumerate(row)] for a, row in enumerate(p)])
        n = range(len(m))
        out = m if out is None else [[sum(out[a][c] * m[c][b] for c in n) for b in n] for a in n]
    return normalised(out)


def show(x):
    return "%.7g~3e-6" % x


def write_array(kind, name, shape, values):
    print("%s %s [%s] %s" % (kind, name, ",".join(map(str, shape)),
                             " ".join("%.8g" % v if isinstance(v, float) else str(v) for v in values)))


def head_mean(heads):
    T = len(heads[0])
    return [[sum(h[i][j] for h in heads) / len(heads) for j in range(T)] for i in range(T)]


def write_sample(name, lengths, gold, causal, steps, store, look):
    """`lengths` by region in order; the template comes in two pieces (around the documents). `look`: one forward more,
    over the finished row."""
    region, names = [], []
    for piece, count in lengths:
        if piece not in names:
            names.append(piece)
        region += [names.index(piece)] * count
    T = len(region)
    spans = [[i for i in range(T) if region[i] == r] for r in range(len(names))]
    first = spans[names.index("answer")][0]
    print("sample %s\ntext prompt_length %d\ntext attention %s" % (name, first, "causal" if causal else "bidirectional"))
    quoted = lambda items: "[" + ", ".join('"%s"' % x for x in items) + "]"
    print("list region_names %s\nlist gold_regions %s" % (quoted(names), quoted(gold)))
    if not causal:
        print("text mask_token 999")
    if look:
        print("text final_step %d" % steps)
    forwards = steps + look
    groups = [n for n in names if n != "answer"] + ["answer, revealed", "answer, masked"]
    print("list group_names %s" % quoted(groups))
    write_array("ints", "tokens", [T], list(range(T)))
    write_array("bytes", "region_of_token", [T], region)
    write_array("ints", "steps", [forwards], list(range(forwards)))
    write_array("ints", "layers", [L], list(range(L)))
    attention = [[[draw(T, causal) for _ in range(H)] for _ in range(L)] for _ in range(forwards)]
    answer = spans[names.index("answer")]
    sizes, values = [], []
    for s in range(forwards):
        # Step 0: all masked; later: all revealed but one; causal, and the finished row: all revealed.
        cut = len(answer) if causal or s == steps else len(answer) - 1 if s else 0
        members = [spans[names.index(g)] for g in groups[:-2]] + [answer[:cut], answer[cut:]]
        sizes += [len(m) for m in members]
        for l in range(L):
            for queries in members:
                for h in range(H):
                    columns = [sum(attention[s][l][h][i][j] for i in queries) for j in range(T)]
                    values += columns if store == "received" else [sum(columns[j] for j in span) for span in spans]
    write_array("ints", "group_sizes", [forwards, len(groups)], sizes)
    last = T if store == "received" else len(names)
    write_array("floats", store, [forwards, L, len(groups), H, last], [float(v) for v in values])
    means = [[head_mean(attention[s][l]) for l in range(L)] for s in range(forwards)]
    final = means[-1:] if look or causal else []
    return dict(names=names, spans=spans, gold=gold, T=T, causal=causal, steps=means[:steps],
                rollouts={"published": final, "final_row": final, "denoising_mean": [] if causal else means[:steps],
                          "denoising_last": [] if causal else means[steps - 1:steps]})


def seen_by(sample, forward):
    """Published: what is text of the template belongs to no region."""
    if forward != "published":
        return sample
    kept = [i for i, name in enumerate(sample["names"]) if name != "template"]
    return dict(sample, names=[sample["names"][i] for i in kept], spans=[sample["spans"][i] for i in kept])


def answer_share(sample, matrix, regions):
    answer = sample["spans"][sample["names"].index("answer")]
    keys = [j for r in regions for j in sample["spans"][sample["names"].index(r)]]
    return sum(matrix[i][j] for i in answer for j in keys) / len(answer)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def expectations(trace, samples):
    print("\nanalyze flow %s rollout_layers=2 replicates=10" % trace)
    print("\n# Sums of the drawn matrices over answer rows and region columns; means over steps, heads, samples.")
    print("expect flow_by_layer queries=answer steps=mean region=gold\nlayer,samples,mass,uniform,lift")
    for l in range(L):
        m = mean(mean(answer_share(x, step[l], x["gold"]) for step in x["steps"]) for x in samples)
        u = mean(answer_share(x, even(x["T"], x["causal"]), x["gold"]) for x in samples)
        print("%d,%d,%s,%s,%s" % (l, len(samples), show(m), show(u), show(m / u)))
    print("\nexpect flow_by_layer queries=answer steps=last region=template\nlayer,mass,uniform")
    for l in range(L):
        m = mean(answer_share(x, x["steps"][-1][l], ["template"]) for x in samples)
        u = mean(answer_share(x, even(x["T"], x["causal"]), ["template"]) for x in samples)
        print("%d,%s,%s" % (l, show(m), show(u)))
    print("\n# Gold lift over the lift of all other documents together.")
    print("expect flow_gold_by_layer gold_position=all\nlayer,gold_lift,distractor_lift,gold_over_distractors")
    for l in range(L):
        lifts = []
        for wanted in (True, False):
            per_sample = []
            for x in samples:
                docs = [n for n in x["names"] if n.startswith("document") and (n in x["gold"]) == wanted]
                per_sample.append(mean(answer_share(x, step[l], docs) for step in x["steps"]) /
                                  answer_share(x, even(x["T"], x["causal"]), docs))
            lifts.append(mean(per_sample))
        print("%d,%s,%s,%s" % (l, show(lifts[0]), show(lifts[1]), show(lifts[0] / lifts[1])))
    order = ["bos", "template", "query", "document 1", "document 2", "document 3", "answer"]
    for forward, pooling in [(f, p) for f in samples[0]["rollouts"] for p in ("sum", "mean")]:
        if (forward, pooling) == ("published", "mean"):
            continue
        print("\n# R = M[L-1]...M[L-k], M = rownorm(P + I), from the whole matrices; the null from the even matrix.")
        print("expect flow_rollout forward=%s pooling=%s from=answer\nlayers,all_layers,to,samples,flow,uniform" %
              (forward, pooling))
        for depth in (1, 2, 3) if forward != "published" else (3,):
            for region in order:
                have = [seen_by(x, forward) for x in samples]
                have = [x for x in have if region in x["names"] and x["rollouts"][forward]]
                if not have:
                    continue
                cell = lambda x, matrices: rollout(matrices, x["spans"], pooling == "mean", depth)[
                    x["names"].index("answer")][x["names"].index(region)]
                flow = mean(mean(cell(x, step) for step in x["rollouts"][forward]) for x in have)
                null = mean(cell(x, [even(x["T"], x["causal"])] * L) for x in have)
                print("%d,%s,%s,%d,%s,%s" % (depth, "yes" if depth == L else "no", region, len(have), show(flow), show(null)))
    for pooling in ("sum", "mean"):
        print("\n# One layer between regions, rows normalised.")
        print("expect flow_matrix layer=1 from=query pooling=%s\nto,mass,uniform" % pooling)
        for region in order:
            have = [x for x in samples if region in x["names"]]
            cell = lambda x, matrix: region_mass(matrix, x["spans"], pooling == "mean")[
                x["names"].index("query")][x["names"].index(region)]
            if have:
                print("%s,%s,%s" % (region, show(mean(mean(cell(x, step[1]) for step in x["steps"]) for x in have)),
                                    show(mean(cell(x, even(x["T"], x["causal"])) for x in have))))
    for forward in samples[0]["rollouts"]:
        print("\n# The whole matrix: the row of the query.")
        print("expect flow_rollout forward=%s pooling=sum from=query all_layers=yes\nto,flow" % forward)
        for region in order:
            have = [seen_by(x, forward) for x in samples]
            have = [x for x in have if region in x["names"] and x["rollouts"][forward]]
            if have:
                print("%s,%s" % (region, show(mean(mean(
                    rollout(step, x["spans"], False, L)[x["names"].index("query")][x["names"].index(region)]
                    for step in x["rollouts"][forward]) for x in have))))
        print("\n# Published ratio in the answer's row, and the same of even attention.")
        print("expect flow_gold_by_rollout gold_position=all forward=%s pooling=sum\n"
              "layers,gold,distractor,ratio,uniform_ratio,ratio_over_uniform" % forward)
        for depth in (1, 2, 3) if forward != "published" else (3,):
            parts = []
            for matrices in (lambda x: x["rollouts"][forward], lambda x: [[even(x["T"], x["causal"])] * L]):
                for wanted in (True, False):
                    parts.append(mean(mean(mean(
                        rollout(step, x["spans"], False, depth)[x["names"].index("answer")][x["names"].index(n)]
                        for n in x["names"] if n.startswith("document") and (n in x["gold"]) == wanted)
                        for step in matrices(x)) for x in [seen_by(x, forward) for x in samples]) if samples[0]["rollouts"][forward] else None)
            g, d, ug, ud = parts
            if g is not None:
                print("%d,%s,%s,%s,%s,%s" % (depth, show(g), show(d), show(g / d), show(ug / ud),
                                             show(g / d / (ug / ud))))
    print("\n# samples, without an answer, without rows, without a final row, without gold, with several, with gold only")
    print("expect flow_samples\nsamples\n%d\n0\n0\n%d\n0\n0\n0" %
          (len(samples), sum(not x["rollouts"]["final_row"] for x in samples)))
    print()


print("# Region flow. Written by make_flow.py, which sums whole attention matrices; do not edit.")
for trace, causal, store, steps, look in (("mdm", False, "mass", S, 1), ("unfinished", False, "mass", S, 0),
                                          ("ar", True, "received", 1, 0)):
    print("\ntrace %s\nmodel layers=%d heads=%d kv_heads=%d" % (trace, L, H, H))
    samples = [
        write_sample("one", [("bos", 1), ("template", 2), ("query", 2), ("document 1", 3), ("document 2", 2),
                             ("template", 1), ("answer", 3)], ["document 2"], causal, steps, store, look),
        write_sample("two", [("bos", 1), ("template", 1), ("query", 3), ("document 1", 2), ("document 2", 4),
                             ("document 3", 1), ("template", 2), ("answer", 2)], ["document 1"], causal, steps, store, look)]
    expectations(trace, samples)
