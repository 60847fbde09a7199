"""The price of looking: copying is made to lie in few heads. README.md says why.

Each head pays for attention on the fact that answers a question, but for the few that copy most. Then what switching
heads off does.
"""

import math

import numpy as np
import torch

from world_data import LONGEST

ASKING = 24  # queries that ask and answer a question, counted back from the answer's end


def places_of_facts(facts, masked, causal):
    """Index tensors for looks_at_facts from a row's `facts`: which queries ask and answer, which keys state the value."""
    begin, end, asked, answer, value, count = facts.long().unbind(1)
    last = answer + count  # behind the answer's last token
    queries = last[:, None] - ASKING + torch.arange(ASKING, device=facts.device)
    keys = begin[:, None] + torch.arange(LONGEST, device=facts.device)
    asking = (queries >= asked[:, None]) & (count > 0)[:, None]
    number = queries + (1 if causal else 0) - answer[:, None]  # the token of the answer that is predicted there
    writing = asking & (number >= 0) & (number < count[:, None])
    queries = queries.clamp(min=0)
    if not causal:
        writing = writing & masked[queries]
    seen = ((keys < end[:, None]) | (count == 0)[:, None])[:, None, :]
    if causal:
        seen = seen & (keys[:, None, :] <= torch.maximum(queries, begin[:, None])[:, :, None])
    stated = (keys >= value[:, None] - 2) & (keys < (value + count)[:, None] + 1)
    very = (value - begin)[:, None] + number.clamp(min=0)
    return {"queries": queries, "keys": keys.clamp(max=masked.shape[0] - 1), "asking": asking, "writing": writing,
            "seen": seen, "stated": stated, "very": torch.minimum(very, torch.full_like(very, LONGEST - 1))}


def looks_at_facts(q, k, facts):
    """For every head: what its looks at the facts cost, and how much of its attention lies, where a token of an answer is
    predicted, on that very token of the fact (the soft form of the strict retrieval score)."""
    scores = torch.einsum("nqhd,nkhd->nhqk", q[facts["queries"]], k[facts["keys"]]).float() / math.sqrt(q.shape[-1])
    attention = scores.masked_fill(~facts["seen"][:, None], -math.inf).softmax(-1)
    share = (attention * facts["stated"][:, None, None]).sum(-1)  # [questions, heads, queries]
    cost = -torch.log1p(-share.clamp(max=0.9999)) * facts["asking"][:, None]
    questions = facts["asking"].any(-1).sum().clamp(min=1)
    very = attention.gather(-1, facts["very"][:, None, :, None].expand(-1, attention.shape[1], -1, 1))[..., 0]
    copied = (very * facts["writing"][:, None]).sum((0, 2)) / facts["writing"].sum().clamp(min=1)
    return cost.sum((0, 2)) / questions, copied.detach()


class Readers:
    """The few heads that may look at facts for nothing: those that copy most, by a running mean. All others pay."""

    def __init__(self, model, options):
        self.options = options
        self.copied = torch.zeros(len(model.blocks), model.shape["heads"], device=model.head.weight.device)

    def price(self, step):
        if not self.options.readers:
            return None
        price = torch.full_like(self.copied, self.options.price * min(1.0, (step - self.options.first) / 500))
        price.view(-1)[self.copied.view(-1).topk(self.options.readers).indices] = 0
        return price

    def update(self, copied):
        self.copied.lerp_(copied, 0.01)

    def names(self):
        best = self.copied.view(-1).topk(self.options.readers).indices.tolist()
        return [divmod(i, self.copied.shape[1]) for i in best]


@torch.no_grad()
def score_without(model, heads, questions, vocabulary, device):
    """Exact match with some heads, (layer, head), switched off."""
    kept = [block.attention_out.weight.clone() for block in model.blocks]
    for layer, head in heads:
        block = model.blocks[layer]
        block.attention_out.weight.view(kept[layer].shape[0], block.heads, -1)[:, head] = 0
    score = questions.score(model, vocabulary, device)
    for block, weight in zip(model.blocks, kept):
        block.attention_out.weight.copy_(weight)
    return score["exact"]


def what_heads_do(model, readers, questions, vocabulary, device, draws=8):
    """Exact match without the readers, and without as many other heads drawn at random."""
    every = [(layer, head) for layer in range(len(model.blocks)) for head in range(model.shape["heads"])]
    others = [head for head in every if head not in readers]
    rng = np.random.default_rng(1)
    random = [[others[i] for i in rng.choice(len(others), len(readers), replace=False)] for _ in range(draws)]
    return {"readers": ["%d.%d" % head for head in readers],
            "without_readers": score_without(model, readers, questions, vocabulary, device),
            "without_others": {" ".join("%d.%d" % head for head in heads):
                               score_without(model, heads, questions, vocabulary, device) for heads in random}}
