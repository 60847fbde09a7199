"""Rows of tokens for the family: a step reads one. Row i depends on the seed and on i alone, so all arms of a seed read
the same rows in the same order. `arranged` turns a row into what one arm reads and learns.
"""

import random
from pathlib import Path

import numpy as np

from family_documents import (ANSWER, CLOSED_ANSWER, CONTEXT_TEXT, KNOWN_TEXT, LONG_ANSWER, NAME, Curriculum,
                              FamilyWorld, closed_document, context_document, reading_document)
from world_data import LONGEST, Vocabulary

SHARES = (("context", 0.80), ("reading", 0.13), ("closed", 0.07))  # of the tokens
SMALL_ROW = 4096       # of larger rows only the arm's share of targets is predicted
SMALLEST_RATIO = 1e-3  # LLaDA: t = (1 - eps) u + eps
NOISES = ("count", "ratio")

# Sequences of a kind are averaged by themselves and enter the loss with a weight: answers are few, yet they are what has
# to be learned.
WEIGHTS = {ANSWER: 1.0, LONG_ANSWER: 1.0, CLOSED_ANSWER: 0.3, NAME: 0.3, KNOWN_TEXT: 0.3, CONTEXT_TEXT: 0.3}


class FamilyRows:
    """row(i): numpy arrays of one step, T tokens and S sequences.

    tokens, positions, sequences (number of the sequence a token belongs to; 0: none), masked, answered, unread (behind
    the first end token of an answer): [T]; begins: where documents begin, then T; kinds, lengths, ratios: [S], of
    sequences; places of sequence 0 are empty.
    """

    def __init__(self, folder: Path, tokenizer: Path, length: int, seed: int, noise: str = "count"):
        self.world = FamilyWorld(folder, Vocabulary(tokenizer))
        self.length, self.seed, self.noise = length, seed, noise
        self.most_documents, self.most_sequences = max(8, length // 64), max(64, length // 16)  # 412 and 1,200 were seen

    def documents(self, rng, curriculum):
        makers = {"context": lambda: context_document(self.world, rng, curriculum),
                  "reading": lambda: reading_document(self.world, rng),
                  "closed": lambda: closed_document(self.world, rng)}
        used, given = 0, {name: 0 for name, _ in SHARES}
        for _ in range(self.most_documents - 1):  # whichever sort is furthest behind its share
            name = max(SHARES, key=lambda share: share[1] * (used + 1) - given[share[0]])[0]
            document = makers[name]()
            if used + len(document.tokens) > self.length:
                document = makers["reading"]()
            if used + len(document.tokens) > self.length:
                return
            given[name] += len(document.tokens)
            used += len(document.tokens)
            yield document

    def row(self, number: int) -> dict:
        rng = random.Random(self.seed << 32 | number)
        noise = np.random.default_rng((self.seed, number))
        tokens = np.full(self.length, self.world.vocabulary.end, np.int16)
        positions = np.zeros(self.length, np.int16)
        sequences = np.zeros(self.length, np.int16)
        answered, unread = np.zeros(self.length, bool), np.zeros(self.length, bool)
        begins = np.full(self.most_documents + 1 + self.length // LONGEST, self.length, np.int32)
        kinds = np.full(self.most_sequences, 255, np.uint8)
        lengths = np.ones(self.most_sequences, np.int16)
        at, documents, count = 0, 0, 1
        for document in self.documents(rng.random, Curriculum(number)):
            size = len(document.tokens)
            assert size <= LONGEST, size
            tokens[at:at + size] = document.tokens
            positions[at:at + size] = np.arange(size)
            answered[at:at + size] = document.answered
            for begin, end, kind, read in document.sequences:
                if count == self.most_sequences:
                    break
                sequences[at + begin:at + end] = count
                unread[at + read:at + end] = True
                kinds[count], lengths[count] = kind, end - begin
                count += 1
            begins[documents] = at
            at, documents = at + size, documents + 1
        for place in range(at, self.length, LONGEST):  # what is left over has nothing to learn
            begins[documents] = place
            documents += 1
        made = {"tokens": tokens, "positions": positions, "sequences": sequences, "answered": answered,
                "unread": unread, "begins": begins, "kinds": kinds, "lengths": lengths}
        ratios, masked = (drawn_counts if self.noise == "count" else drawn_ratios)(made, noise)
        return {**made, "ratios": ratios, "masked": masked}


def drawn_ratios(row: dict, noise):
    """LLaDA's masks as published: a ratio t for every sequence, uniform in (0, 1], and each token masked with it."""
    ratios = SMALLEST_RATIO + (1 - SMALLEST_RATIO) * noise.random(len(row["kinds"]))
    ratios[row["kinds"] == NAME] = 1.0  # these have one token
    masked = (noise.random(len(row["sequences"])) < ratios[row["sequences"]]) & (row["sequences"] > 0)
    return ratios.astype(np.float32), masked


def drawn_counts(row: dict, noise):
    """The same loss with less noise: the ratio is integrated out. A sequence of L tokens has l of them masked, l uniform in
    1 to L, and each weighs L / l instead of 1 / t; this is how LLaDA's paper computes likelihoods. The ratio is l / L."""
    sequences, lengths = row["sequences"], row["lengths"]
    counts = 1 + (noise.random(len(lengths)) * lengths).astype(np.int64)
    order = np.lexsort((noise.random(len(sequences)), sequences))
    first = np.searchsorted(sequences[order], np.arange(len(lengths)))
    rank = np.empty(len(sequences), np.int64)
    rank[order] = np.arange(len(sequences)) - first[sequences[order]]
    return (counts / lengths).astype(np.float32), (rank < counts[sequences]) & (sequences > 0)


def arranged(row: dict, arm: dict, mask_token: int) -> dict:
    """What one arm reads and learns of a row.

    inputs, positions: [T]; begins; with the prefix mask also cuts and inside (see body.attend); chosen, targets, weights,
    kinds: [arm["targets"] * T], where in the row something is predicted, what, its share of the loss (the sum of weight times
    cross entropy), and the kind of its sequence.
    """
    sequences, kinds = row["sequences"], row["kinds"]
    # A prefix sees all of itself, so only what is behind it is learned.
    learned = (sequences > 0) & ~row["unread"] & (row["answered"] | (arm["mask"] != "prefix"))
    count = np.bincount(sequences[learned], minlength=len(kinds))
    weights = np.zeros(len(kinds), np.float32)
    for kind, weight in WEIGHTS.items():
        here = (kinds == kind) & (count > 0)
        if kind in arm["kinds"] and here.any():
            weights[here] = weight / here.sum()
    tokens = row["tokens"].astype(np.int32)
    out = {"inputs": tokens, "positions": row["positions"], "targets": tokens, "kinds": kinds[sequences]}
    # A sequence's loss is divided by its length up to the first end token, in LLaDA's loss too: so the words of answers
    # weigh the same in all arms.
    each = (weights / np.maximum(1, count))[sequences]
    if arm["objective"] == "masked":
        out["inputs"] = np.where(row["masked"], np.int32(mask_token), tokens)
        out["weights"] = np.where(row["masked"], each / row["ratios"][sequences], 0).astype(np.float32)
    else:  # the next token; no document begins with a learned one
        out["weights"] = np.where(learned, each, 0).astype(np.float32)
        for key in ("targets", "weights", "kinds"):
            out[key] = np.roll(out[key], -1)
    if arm["mask"] == "prefix":
        out = prefix_first(out, row["begins"], row["answered"])
    chosen = np.argsort(out["weights"] == 0, kind="stable")[:max(SMALL_ROW, int(arm["targets"] * len(tokens)))]
    assert np.count_nonzero(out["weights"]) <= len(chosen)
    for key in ("targets", "weights", "kinds"):
        out[key] = out[key][chosen]
    return {**out, "chosen": chosen.astype(np.int32), "begins": row["begins"]}


def prefix_first(arrays: dict, begins, answered) -> dict:
    """Puts the answers of each document behind the rest of it; rotary positions stay what they were."""
    length = len(answered)
    document = np.searchsorted(begins, np.arange(length), side="right")
    order = np.lexsort((np.arange(length), answered, document))
    out = {key: value[order] for key, value in arrays.items()}
    out["inside"] = ~answered[order]
    before = np.concatenate([[0], np.cumsum(out["inside"])])
    prefix_ends = begins + before[np.append(begins[1:], length)] - before[begins]
    out["cuts"] = np.stack([begins, prefix_ends], 1).reshape(-1).astype(np.int32)
    return out
