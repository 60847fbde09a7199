"""The four arms of the family and their losses. They share everything but the mask and the objective."""

import torch
import torch.nn.functional as F

from body import Body
from family_documents import ANSWER, CLOSED_ANSWER, CONTEXT_TEXT, KIND_NAMES, KNOWN_TEXT, LONG_ANSWER, NAME
from family_rows import WEIGHTS

EVERYTHING = (ANSWER, LONG_ANSWER, CLOSED_ANSWER, NAME, KNOWN_TEXT, CONTEXT_TEXT)

# `kinds` are the sequences that an arm learns. A prefix sees all of itself: of a sequence there only what is written is learned.
# `targets` is the largest share of a row that is predicted; 0.50, 0.31, 0.31 and 0.50 were seen in 300 rows.
ARMS = {
    "causal-next": {"mask": "causal", "objective": "next", "kinds": EVERYTHING, "targets": 0.6875},
    "causal-masked": {"mask": "causal", "objective": "masked", "kinds": EVERYTHING, "targets": 0.4375},
    "full-masked": {"mask": "full", "objective": "masked", "kinds": EVERYTHING, "targets": 0.4375},
    "prefix-next": {"mask": "prefix", "objective": "next", "kinds": EVERYTHING, "targets": 0.6875},
}


def prefix_of(row):
    return {"begins": row["cuts"], "inside": row["inside"]} if "cuts" in row else None


def loss_of(model, row):
    """The loss of an arranged row, and its parts by kind: the mean over sequences, before weighting."""
    x, _ = model.stream(row["inputs"], row["positions"], row["begins"], prefix_of(row))
    logits = model.head(x.index_select(0, row["chosen"]))
    losses = row["weights"] * F.cross_entropy(logits.float(), row["targets"], reduction="none")
    parts = torch.stack([(losses * (row["kinds"] == kind)).sum() / WEIGHTS[kind] for kind in EVERYTHING])
    return losses.sum(), parts.detach()


def named(parts):
    return {KIND_NAMES[kind]: round(part, 4) for kind, part in zip(EVERYTHING, parts.tolist())}


def make_model(arm, options, vocabulary, device):
    """Initial weights depend on the seed alone: all arms of a seed begin with the same."""
    shape = {"mask": ARMS[arm]["mask"], "objective": ARMS[arm]["objective"], "width": options.width,
             "layers": options.layers, "heads": options.heads, "mlp": options.mlp, "rope_theta": 500000.0}
    torch.manual_seed(options.seed)
    return Body(shape, vocabulary.size).to(device)


def to_device(row, device):
    """Arrays of numpy or tensors of the CPU, where tokens and places have to be long."""
    row = {key: torch.as_tensor(value).to(device, non_blocking=True) for key, value in row.items()}
    for key in ("inputs", "targets", "chosen"):
        row[key] = row[key].long()
    return row
