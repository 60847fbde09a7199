"""Tests of the family's training on the CPU, with tiny networks: no arm sees its target, and the rest of the recipe.

    WORLD=folder python3 -m unittest test_family    the folder as for train_family.py, with its tokenizer

Needs PyTorch. `ctest -R training` runs it where the build has BUOY_TRAINING and python3 has torch; CI has neither.
"""

import argparse
import json
import math
import os
import random
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from body import MASKS, attend_by_calls, attend_plainly, seen_keys
from check_attention import check_attention, example
from checkpoint import config_of, load, save, shape_of
from family_arms import ARMS, loss_of, make_model, prefix_of, to_device
from family_documents import ANSWER, NAME, PREFIX_BEGINS, PREFIX_WHOLE, Context, Curriculum
from family_rows import WEIGHTS, FamilyRows, arranged
from family_scores import QuestionSet, decode, measure
from optimizer import Muon
from world_data import LONGEST

WORLD = Path(os.environ["WORLD"])
CPU = torch.device("cpu")
TINY = argparse.Namespace(width=32, layers=2, heads=2, mlp=48, seed=3)
ROWS = FamilyRows(WORLD, WORLD / "tokenizer" / "tokenizer.json", 1500, 3)
VOCABULARY = ROWS.world.vocabulary
STEPS = (100, 2500, 9000)  # of the curriculum: one passage, several, all tasks


def varlen_by_loop(q, k, v, begins, begins_of_keys, longest, longest_key, window_size):
    """What torch's varlen_attn does."""
    assert begins is begins_of_keys and longest >= int((begins[1:] - begins[:-1]).max())
    out = torch.zeros_like(q)
    for begin, end in zip(begins.tolist(), begins.tolist()[1:]):
        if end > begin:
            seen = torch.ones(end - begin, end - begin, dtype=torch.bool)
            seen = seen.tril() if window_size == (-1, 0) else seen
            out[begin:end] = attend_plainly(q[begin:end], k[begin:end], v[begin:end], seen)
    return out


class Masks(unittest.TestCase):
    def test_calls_give_the_mask_by_its_definition(self):
        (q, k, v), begins, prefix = example(CPU)
        for mask in MASKS:
            by_calls = attend_by_calls(q, k, v, begins, mask, prefix, varlen_by_loop)
            plainly = attend_plainly(q, k, v, seen_keys(len(q), begins, mask, prefix))
            self.assertLess((by_calls - plainly).abs().max().item(), 1e-5, mask)
        self.assertEqual(set(check_attention(CPU)), set(MASKS))

    def test_prefix_sees_itself_and_answers_see_what_is_before(self):
        begins = torch.tensor([0, 4, 6])
        seen = seen_keys(6, begins, "prefix", {"inside": torch.tensor([True, True, False, False, True, True])})
        self.assertEqual(seen.int().tolist(), [[1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0],
                                               [1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1]])


@torch.no_grad()
def predictions(model, row, arm):
    """Place in the row of each target > the logits that predict it."""
    made = to_device(arranged(row, arm, VOCABULARY.mask), CPU)
    places = arranged({**row, "tokens": np.arange(ROWS.length, dtype=np.int16)}, arm, -1)["targets"]
    x, _ = model.stream(made["inputs"], made["positions"], made["begins"], prefix_of(made))
    logits = model.head(x[made["chosen"]])
    return {place: logits[i] for i, place in enumerate(places.tolist()) if made["weights"][i] > 0}


def changed(row, places, seed=1):
    """The row with other tokens at these places."""
    tokens = row["tokens"].copy()
    tokens[places] = (tokens[places] + 1 + np.random.default_rng(seed).integers(0, 900, len(tokens[places]))) % 1900
    return {**row, "tokens": tokens}


def hidden_places(row, arm, target):
    """What must not be read where `target` is predicted, by the arm's definition and not by its code."""
    place, begins = np.arange(ROWS.length), row["begins"]
    document = np.searchsorted(begins, place, side="right")
    here = document == document[target]
    hidden = ~here  # other documents
    if arm["objective"] == "masked":
        hidden |= row["masked"]
        assert row["masked"][target]
    if arm["mask"] == "causal":
        later = place >= target if arm["objective"] == "next" else place > target
        hidden |= here & later
    if arm["mask"] == "prefix":
        hidden |= here & row["answered"] & (place >= target)
    return hidden


class Targets(unittest.TestCase):
    def check(self, arm, model, leaks=False):
        worst = 0.0
        for step in STEPS:
            row = ROWS.row(step)
            before = predictions(model, row, arm)
            self.assertGreater(len(before), 20)
            for target in random.Random(step).sample(sorted(before), 8):
                hidden = hidden_places(row, arm, target)
                self.assertTrue(hidden[target])
                after = predictions(model, changed(row, hidden), arm)[target]
                worst = max(worst, (after - before[target]).abs().max().item())
        if leaks:
            self.assertGreater(worst, 1e-3)
        else:
            self.assertLess(worst, 1e-5)

    def test_no_arm_sees_its_target(self):
        for name, arm in ARMS.items():
            with self.subTest(name):
                self.check(arm, make_model(name, TINY, VOCABULARY, CPU))

    def test_the_test_above_finds_leaks(self):
        for name, mask in (("causal-next", "full"), ("prefix-next", "full")):
            with self.subTest(name):
                model = make_model(name, TINY, VOCABULARY, CPU)
                for block in model.blocks:
                    block.mask = mask
                self.check(ARMS[name], model, leaks=True)
        arm = {**ARMS["full-masked"], "objective": "masked"}
        model = make_model("full-masked", TINY, VOCABULARY, CPU)
        row = ROWS.row(STEPS[2])
        bare = {**row, "masked": np.zeros_like(row["masked"])}  # nothing masked: the target is read
        made = [to_device(arranged(r, arm, VOCABULARY.mask), CPU) for r in (bare, changed(bare, row["masked"]))]
        logits = [model(m["inputs"], m["positions"], m["begins"]).detach() for m in made]
        self.assertGreater((logits[0] - logits[1]).abs().max().item(), 1e-3)

    def test_every_arm_reads_what_it_may(self):
        """A change of one passage token of the same document, which every mask shows, changes the prediction."""
        for name, arm in ARMS.items():
            model, row = make_model(name, TINY, VOCABULARY, CPU), ROWS.row(STEPS[2])
            before = predictions(model, row, arm)
            answers = [target for target in before if row["kinds"][row["sequences"][target]] == ANSWER]
            begin = row["begins"][np.searchsorted(row["begins"], answers[0], side="right") - 1]
            after = predictions(model, changed(row, np.array([begin + 3])), arm)[answers[0]]
            self.assertGreater((after - before[answers[0]]).abs().max().item(), 1e-5, name)


def documents_of(row):
    """(begin, end, whether nothing but its first token is a prefix) of every document."""
    ends = np.append(row["begins"][1:], len(row["tokens"]))
    return [(begin, end, row["answered"][begin + 1:end].all()) for begin, end in zip(row["begins"], ends) if end > begin + 1]


class Losses(unittest.TestCase):
    def test_the_published_weights(self):
        row = ROWS.row(STEPS[2])
        made = arranged(row, ARMS["full-masked"], VOCABULARY.mask)
        answers = (row["kinds"] == ANSWER).sum()
        for chosen, weight in zip(made["chosen"], made["weights"]):
            sequence = row["sequences"][chosen]
            if weight > 0 and row["kinds"][sequence] == ANSWER:
                length = ((row["sequences"] == sequence) & ~row["unread"]).sum()
                share = 1 / (row["ratios"][sequence] * length) / answers
                self.assertAlmostEqual(weight / share, 1.0, places=4)
        self.assertTrue(((row["ratios"] > 0) & (row["ratios"] <= 1)).all())

    def test_masked_weights_are_right_on_average(self):
        """The factor 1/t makes every maskable token count once, whatever the ratio: words weigh as in the other arms."""
        sums = []
        for number in range(2000, 2060):
            row = ROWS.row(number)
            made = arranged(row, ARMS["causal-masked"], VOCABULARY.mask)
            sums.append(made["weights"][(made["kinds"] == ANSWER) & ~row["unread"][made["chosen"]]].sum())
        self.assertAlmostEqual(np.mean(sums), WEIGHTS[ANSWER], delta=0.15)

    def test_both_noises_have_the_same_expected_loss(self):
        """For every set of masked tokens: its probability times the weight of a masked token. By integration for ratios."""
        length, ratios = 5, (np.arange(200000) + 0.5) / 200000
        for count in range(1, length + 1):
            by_ratio = np.mean(ratios ** count * (1 - ratios) ** (length - count) / (ratios * length))
            by_count = 1 / length / math.comb(length, count) / count
            self.assertAlmostEqual(by_ratio / by_count, 1.0, places=4)

    def test_counts_are_drawn_evenly(self):
        seen = []
        for number in range(100, 130):
            row = ROWS.row(number)
            for sequence in np.flatnonzero((row["kinds"] == ANSWER) & (row["lengths"] == 8)):
                here = row["sequences"] == sequence
                self.assertEqual(row["masked"][here].sum(), round(row["ratios"][sequence] * 8))
                seen.append(np.flatnonzero(row["masked"][here]))
        places = np.bincount(np.concatenate(seen), minlength=8) / len(seen)
        sizes = np.bincount([len(one) for one in seen], minlength=9)[1:] / len(seen)
        self.assertGreater(len(seen), 400)
        self.assertLess(np.abs(places - 9 / 16).max(), 0.1)  # four standard deviations
        self.assertLess(np.abs(sizes - 1 / 8).max(), 0.07)

    def test_ratios_mask_as_often_as_they_say(self):
        rows = FamilyRows(WORLD, WORLD / "tokenizer" / "tokenizer.json", 1500, 3, "ratio")
        share, wanted = [], []
        for number in range(100, 130):
            row = rows.row(number)
            places = row["sequences"] > 0
            share.append(row["masked"][places])
            wanted.append(row["ratios"][row["sequences"][places]])
            self.assertFalse(row["masked"][~places].any())
        share, wanted = np.concatenate(share), np.concatenate(wanted)
        for low in (0.0, 0.25, 0.5, 0.75):
            here = (wanted > low) & (wanted <= low + 0.25)
            self.assertAlmostEqual(share[here].mean(), wanted[here].mean(), delta=0.05)

    def test_next_token_weights_are_right(self):
        row = ROWS.row(STEPS[2])
        for name in ("causal-next", "prefix-next"):
            made = arranged(row, ARMS[name], VOCABULARY.mask)
            for kind, weight in WEIGHTS.items():
                found = made["weights"][made["kinds"] == kind].sum()
                wanted = weight if kind in ARMS[name]["kinds"] and (row["kinds"] == kind).any() else 0
                self.assertAlmostEqual(found, wanted, places=4)

    def test_arms_learn_the_same_tokens(self):
        row = ROWS.row(STEPS[2])
        row["masked"] = row["sequences"] > 0  # every ratio 1
        places = {}
        for name, arm in ARMS.items():
            numbers = {**row, "tokens": np.arange(ROWS.length, dtype=np.int16)}
            made = arranged(numbers, arm, -1)
            places[name] = set(made["targets"][made["weights"] > 0].tolist())
        unread = set(np.flatnonzero(row["unread"]).tolist())
        self.assertEqual(places["causal-masked"], places["full-masked"])
        self.assertEqual(places["causal-next"], places["full-masked"] - unread)
        written = {place for place in places["causal-next"] if row["answered"][place]}
        self.assertEqual(places["prefix-next"], written)

    def test_of_some_documents_the_questions_are_written(self):
        rows = [ROWS.row(STEPS[2] + i) for i in range(12)]
        names = np.concatenate([row["answered"][row["kinds"][row["sequences"]] == NAME] for row in rows])
        self.assertTrue(names.any() and not names.all())

    def test_the_prefix_arm_begins_causal_and_ends_without_causal_contexts(self):
        shares = []
        for step in (PREFIX_BEGINS // 2, (PREFIX_BEGINS + PREFIX_WHOLE) // 2, PREFIX_WHOLE + 1):
            rows = [ROWS.row(step + i) for i in range(8)]
            shares.append(np.mean([bare for row in rows for _, _, bare in documents_of(row)]))
        self.assertGreater(shares[0], shares[1])
        self.assertGreater(shares[1], shares[2] + 0.1)
        self.assertLess(shares[2], 0.02)  # a text may be cut at its first token

    def test_without_a_prefix_a_document_is_what_a_causal_arm_reads(self):
        row = ROWS.row((PREFIX_BEGINS + PREFIX_WHOLE) // 2)
        made, causal = (arranged(row, ARMS[name], VOCABULARY.mask) for name in ("prefix-next", "causal-next"))
        seen = [(begin, end) for begin, end, bare in documents_of(row) if bare]
        self.assertTrue(seen)
        for begin, end in seen:
            self.assertTrue((made["inputs"][begin:end] == causal["inputs"][begin:end]).all())

    def test_losses_fall(self):
        for name, arm in ARMS.items():
            model = make_model(name, TINY, VOCABULARY, CPU)
            row = to_device(arranged(ROWS.row(0), arm, VOCABULARY.mask), CPU)
            optimizer = torch.optim.Adam(model.parameters(), 1e-2)
            losses = []
            for _ in range(6):
                loss, parts = loss_of(model, row)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            self.assertLess(losses[-1], 0.8 * losses[0], name)
            total = sum(WEIGHTS[kind] * part for kind, part in enumerate(parts.tolist()))
            self.assertAlmostEqual(total, losses[-1], places=3)


class Optimizer(unittest.TestCase):
    def test_steps_have_equal_singular_values_and_their_size(self):
        torch.manual_seed(1)
        square, tall = torch.nn.Parameter(torch.randn(96, 32)), torch.nn.Parameter(torch.randn(64, 32))
        before = [matrix.detach().clone() for matrix in (square, tall)]
        muon = Muon([(square, 3), (tall, 1)], lr=0.1, weight_decay=0.0)
        square.grad, tall.grad = torch.randn(96, 32), torch.randn(64, 32)
        muon.step()
        steps = [(new - old).detach() / 0.1 for new, old in zip((square, tall), before)]
        for step, grad in ((steps[0][:32], square.grad[:32]), (steps[0][64:], square.grad[64:]), (steps[1], tall.grad)):
            size = 0.2 * max(step.shape) ** 0.5
            values = torch.linalg.svdvals(step) / size
            self.assertGreater(values.median().item(), 0.6)
            self.assertLess(values.max().item(), 1.3)
            u, _, v = torch.linalg.svd(grad, full_matrices=False)  # the nearest orthogonal matrix points the same way
            cosine = -(step * (u @ v)).sum() / step.norm() / (u @ v).norm()
            self.assertGreater(cosine.item(), 0.9)


class Sharing(unittest.TestCase):
    def test_arms_begin_with_the_same_weights_and_layouts_lead_back(self):
        models = [make_model(name, TINY, VOCABULARY, CPU) for name in ARMS]
        for model in models[1:]:
            for one, other in zip(models[0].parameters(), model.parameters()):
                self.assertTrue(torch.equal(one, other))
        for model in models:
            config = config_of(model.shape, VOCABULARY)
            self.assertEqual(config["attention_mask_kind"], model.shape["mask"])
            self.assertEqual(shape_of(config), model.shape)
            with tempfile.TemporaryDirectory() as folder:
                save(model, Path(folder), VOCABULARY)
                self.assertEqual(json.loads((Path(folder) / "config.json").read_text()), config)
                other = make_model("causal-next", argparse.Namespace(**{**vars(TINY), "seed": 9}), VOCABULARY, CPU)
                other.shape = model.shape
                load(other, Path(folder))
                self.assertLess((other.head.weight - model.head.weight).abs().max().item(), 0.01)

    def test_rows_are_functions_of_seed_and_number(self):
        again = FamilyRows(WORLD, WORLD / "tokenizer" / "tokenizer.json", 1500, 3).row(77)
        for key, value in ROWS.row(77).items():
            self.assertTrue(np.array_equal(value, again[key]), key)
        self.assertFalse(np.array_equal(ROWS.row(78)["tokens"], again["tokens"]))


class Data(unittest.TestCase):
    def test_prompts_are_those_of_the_question_sets(self):
        world, checked = ROWS.world, 0
        forms = {(style["name"], wording["name"]): world.forms[i * len(world.tables["wordings"]) + j]
                 for i, style in enumerate(world.tables["styles"]) for j, wording in enumerate(world.tables["wordings"])}
        for path in sorted((WORLD / "sets").glob("*.jsonl")):
            for line in path.read_text().splitlines()[:10]:
                item = json.loads(line)
                form = forms[item["labels"]["style"], item["labels"]["wording"]]
                tokens = list(form.before) if item["passages"] else []
                for i, passage in enumerate(item["passages"]):
                    name = VOCABULARY.encode(" " + passage["title"])
                    tokens += form.label(i, name) + VOCABULARY.encode(" " + passage["text"]) + form.after
                tokens += form.ask + VOCABULARY.encode(" " + item["question"]) + form.answer
                self.assertEqual(tokens, VOCABULARY.encode(item["prompt"]))
                self.assertLess(len(tokens) + 64, LONGEST)
                checked += 1
        self.assertGreater(checked, 100)

    def test_the_newest_record_is_right(self):
        rng, years, found = random.Random(4).random, {tuple(y): i for i, y in enumerate(ROWS.world.years)}, 0
        for _ in range(200):
            context = Context(ROWS.world, rng, Curriculum(9000))
            for (name, r), value in context.newest.items():
                told = [(years[tuple(tokens[2:3])], person.values[r]) for person, tokens, stated in context.passages
                        if tuple(person.name) == name and r in stated]
                self.assertEqual(len(told), 2)
                self.assertEqual(max(told)[1], value)
                found += 1
        self.assertGreater(found, 20)

    def test_held_out_names_are_never_shown(self):
        firsts, families = ({token: i for i, token in enumerate(names)}
                            for names in (ROWS.world.first_names, ROWS.world.family_names))
        for number in range(5000, 5030):
            tokens = ROWS.row(number)["tokens"].tolist()
            for one, other in zip(tokens, tokens[1:]):
                if one in firsts and other in families:
                    self.assertNotIn((firsts[one], families[other]), ROWS.world.held_out)


class Decoding(unittest.TestCase):
    def test_batches_change_nothing(self):
        questions = QuestionSet(WORLD / "sets" / "lookup-2.jsonl", ROWS.world.tables, VOCABULARY, 3)
        for name in ARMS:
            model = make_model(name, TINY, VOCABULARY, CPU)
            alone = [decode(model, [prompt], 4, VOCABULARY, CPU)[0] for prompt in questions.prompts]
            self.assertEqual(decode(model, questions.prompts, 4, VOCABULARY, CPU, budget=250), alone, name)
            self.assertNotIn(VOCABULARY.mask, alone[0])

    def test_scores_know_right_answers(self):
        questions = QuestionSet(WORLD / "sets" / "undecided-2.jsonl", ROWS.world.tables, VOCABULARY, 4)
        score = questions.score([VOCABULARY.encode(" " + item["labels"]["second"]) + [VOCABULARY.end] * 3
                                 for item in questions.items])
        self.assertEqual((score["exact"], score["first"], score["second"]), (1.0, 0.0, 1.0))

    def test_sets_are_told_apart(self):
        sets = [QuestionSet(WORLD / "sets" / f"{name}.jsonl", ROWS.world.tables, VOCABULARY, n)
                for name, n in (("lookup-1", 2), ("list-1", 1), ("lookup-2", 3))]
        for each in sets:
            each.slots = min(each.slots, 9)
        scores = measure(make_model("causal-next", TINY, VOCABULARY, CPU), sets, CPU)
        self.assertEqual([(name, score["n"]) for name, score in scores.items()],
                         [("lookup-1", 2), ("list-1", 1), ("lookup-2", 3)])


if __name__ == "__main__":
    unittest.main()
