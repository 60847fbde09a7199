"""Rows of tokens for training, assembled from the world's tables.

Words, wordings and known people come from tables.json, which the C++ generator wrote (src/buoy/world/world*): nothing of
the world is spelled here. Row number i of a run depends on the seed and on i alone, so both models of the pair read
the same rows in the same order.

A row packs documents of three sorts, without padding between them:
  reading   a biography of a known person
  closed    questions about known people, nothing to read
  context   numbered biographies, mostly of people made up for this document, then questions about them
"""

import json
import random
from pathlib import Path

import numpy as np

from pieces import PIECES

# What a token is to the loss. Both models see all tokens; the kinds decide which are learned, and how strongly.
NOTHING, TEXT, NAME, KNOWN_TEXT, CONTEXT_ANSWER, CLOSED_ANSWER, FILLER = range(7)

NEVER, ALWAYS = -1, -2  # groups of tokens that are never, or always, masked
SLOTS = 8            # an answer fills this many places in most documents; the rest of them hold the end token
LONGEST = 1280       # tokens of one document
FACTS = 32           # questions of a row whose facts are pointed out


class Vocabulary:
    """The tokenizer, on the world's own texts only: there every piece is one token."""

    def __init__(self, path: Path):
        tokenizer = json.loads(path.read_text())
        self.ids = {token.replace("Ġ", " ").replace("Ċ", "\n"): i
                    for token, i in tokenizer["model"]["vocab"].items()}
        special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        self.begin, self.end, self.mask = (special[name] for name in ("<|startoftext|>", "<|endoftext|>",
                                                                      "<|mdm_mask|>"))
        self.size = len(self.ids) + len(special)
        self.words = {i: token for token, i in self.ids.items()}

    def encode(self, text: str) -> list[int]:
        return [self.ids[piece] for piece in PIECES.findall(text)]

    def decode(self, ids) -> str:
        return "".join(self.words.get(int(i), "") for i in ids)


def prompt_text(item: dict) -> str:
    """The one prompt of the pair, with and without passages."""
    passages = "".join(f"Passage {i}: {passage['text']}\n" for i, passage in enumerate(item["passages"], 1))
    return f"{passages}Question: {item['question']}\nAnswer:"


class Relation:
    def __init__(self, table: dict, vocabulary: Vocabulary):
        self.is_person = not table["parts"]
        self.parts = [[vocabulary.ids[" " + word] for word in part] for part in table["parts"]]
        self.statements = [compiled(text, vocabulary) for text in table["statements"]]
        self.questions = [compiled(text, vocabulary) for text in table["questions"]]
        self.noun = compiled(table["noun"], vocabulary) if self.is_person else None
        self.may_begin_with_pronoun = [text.startswith("{s}") for text in table["statements"]]


def compiled(text: str, vocabulary: Vocabulary) -> list[tuple[str, list[int]]]:
    """A template as (slot, tokens that follow it) pairs; the first has no slot."""
    before, *rest = (" " + text).split("{")
    return [("", vocabulary.encode(before.rstrip(" ")))] + [
        (piece[0], vocabulary.encode(piece[2:].rstrip(" "))) for piece in rest]


def fill(template, **values) -> list[int]:
    tokens = []
    for slot, after in template:
        if slot:
            tokens += values[slot]
        tokens += after
    return tokens


def place_of(wanted: str, template, **values) -> int:
    """Where in fill(template, **values) the slot `wanted` begins."""
    at = 0
    for slot, after in template:
        if slot == wanted:
            return at
        at += (len(values[slot]) if slot else 0) + len(after)
    raise ValueError(f"no slot {wanted}")


class Person:
    __slots__ = ("first", "family", "name", "values", "may_be_asked")

    def __init__(self, first, family, name, values, may_be_asked):
        self.first, self.family, self.name, self.values, self.may_be_asked = first, family, name, values, may_be_asked


class World:
    def __init__(self, folder: Path, vocabulary: Vocabulary):
        tables = json.loads((folder / "tables.json").read_text())
        self.vocabulary, self.tables = vocabulary, tables
        word = lambda text: vocabulary.ids[" " + text]
        self.first_names = [word(name) for name in tables["first_names"]]
        self.family_names = [word(name) for name in tables["family_names"]]
        self.pronouns = [[word("She")], [word("He")]]
        self.relations = [Relation(table, vocabulary) for table in tables["relations"]]
        self.person_relations = [i for i, relation in enumerate(self.relations) if relation.is_person]
        self.held_out = {tuple(pair) for pair in tables["held_out_names"]}
        self.known = [Person(p["first"], p["family"], self.name(p["first"], p["family"]),
                             {r: vocabulary.encode(" " + value) for r, value in enumerate(p["values"])}, p["asked"])
                      for p in tables["known"]]
        self.asked = [person for person in self.known if person.may_be_asked]
        self.taken = self.held_out | {(p.first, p.family) for p in self.known}
        orders = random.Random(0)
        self.orders = [orders.sample(range(len(self.relations)), len(self.relations)) for _ in range(4096)]
        self.passage = [[]] + [vocabulary.encode(f"Passage {i}:") for i in range(1, 33)]
        self.question = vocabulary.encode("Question:")
        self.answer = vocabulary.encode("\nAnswer:")
        self.newline = vocabulary.encode("\n")

    def name(self, first: int, family: int) -> list[int]:
        return [self.first_names[first], self.family_names[family]]

    def stranger(self, rng, like=None) -> Person:
        """Somebody new whose name training may show; shares one name with `like` if given."""
        while True:
            first, family = int(rng() * len(self.first_names)), int(rng() * len(self.family_names))
            if like is not None:
                first, family = (like.first, family) if rng() < 0.5 else (first, like.family)
            if (first, family) not in self.taken:
                return Person(first, family, self.name(first, family), {}, True)

    def value(self, person: Person, r: int, rng) -> list[int]:
        """A fact of a person; strangers' facts are made up when first needed."""
        if r not in person.values:
            relation = self.relations[r]
            person.values[r] = (self.stranger(rng).name if relation.is_person else
                                [part[int(rng() * len(part))] for part in relation.parts])
        return person.values[r]

    def biography(self, person: Person, rng) -> tuple[list[int], dict[int, int]]:
        """Tokens, and where in them the value of each stated relation is. The rules are those of
        src/buoy/world/world_text.cc."""
        tables = self.tables
        fewest, most = tables["fewest_statements"], tables["most_statements"]
        count = fewest + int(rng() * (most - fewest + 1))
        tokens, stated = [], {}
        for r in self.orders[int(rng() * len(self.orders))][:count]:
            relation = self.relations[r]
            choices = len(relation.statements) if tokens else tables["opening_statements"]
            which = int(rng() * choices)
            subject = person.name
            if tokens:
                u = rng()
                if u >= tables["full_name_share"]:
                    pronoun = (u >= tables["full_name_share"] + tables["family_name_share"]
                               and relation.may_begin_with_pronoun[which])
                    subject = self.pronouns[person.first % 2] if pronoun else person.name[1:]
            words = {"s": subject, "v": self.value(person, r, rng)}
            stated[r] = len(tokens) + place_of("v", relation.statements[which], **words)
            tokens += fill(relation.statements[which], **words)
        return tokens, stated

    def ask(self, r: int, about: list[int], rng) -> tuple[list[int], int]:
        """Tokens of a question, and where in them the name is: `about` ends with it."""
        questions = self.relations[r].questions
        template = questions[int(rng() * len(questions))]
        name = len(self.question) + len(template[0][1]) + len(about) - 2
        return self.question + fill(template, n=about) + self.answer, name


class Document:
    """Tokens, and spans (begin, end, kind, group) of what is learned. Spans of a group are masked together.

    `facts` says for questions with passages where they are asked, answered, and where their value is stated:
    (begin of the question, begin of the answer, begin of the value in a passage, tokens of the value).
    """

    def __init__(self, vocabulary: Vocabulary):
        self.end = vocabulary.end
        self.tokens, self.spans, self.facts, self.groups = [vocabulary.begin], [], [], 0
        self.anywhere = False

    def add_text(self, tokens):
        self.tokens += tokens

    def add_question(self, world, r, about, rng, name_masked=0.0):
        if len(self.tokens) > 1 and self.tokens[-1] == self.end:
            self.tokens += world.newline
        tokens, name = world.ask(r, about, rng)
        name += len(self.tokens)
        self.tokens += tokens
        hidden = int(rng() * 2) if rng() < name_masked else None
        self.spans += [(name + i, name + i + 1, NAME, ALWAYS if i == hidden else NEVER) for i in range(2)]

    def add_answer(self, value, slots, kind):
        begin = len(self.tokens)
        self.tokens += value + [self.end] * (slots - len(value))
        self.spans.append((begin, begin + len(value) + 1, kind, self.groups))
        self.spans.append((begin + len(value) + 1, begin + slots, FILLER, self.groups))
        self.groups += 1


def draw_slots(rng, late: bool) -> int:
    if rng() < 0.8:
        return SLOTS
    return 5 + int(rng() * (28 if late and rng() < 0.2 else 8))


class Curriculum:
    """How hard contexts are at a point of training (0 .. 1)."""

    def __init__(self, progress: float):
        # One passage, then two, then up to ten.
        self.most = 1 if progress < 0.02 else 2 if progress < 0.08 else min(10, 3 + int((progress - 0.08) / 0.22 * 8))
        self.similar = 0.3 if progress > 0.35 else 0.0   # share of contexts in which people share names
        self.two_hop = 0.15 if progress > 0.35 else 0.0  # share of questions about somebody's mentor or spouse
        self.late = progress > 0.5

    def passages(self, rng) -> int:
        if self.late and rng() < 0.05:
            return 11 + int(rng() * 10)
        return self.most if rng() < 0.4 else 1 + int(rng() * self.most)


def reading_document(world: World, rng) -> Document:
    document = Document(world.vocabulary)
    person = world.known[int(rng() * len(world.known))]
    document.add_text(world.passage[1] + world.biography(person, rng)[0])
    document.spans.append((1, len(document.tokens), KNOWN_TEXT, 0))
    document.anywhere = True
    return document


def closed_document(world: World, rng, curriculum: Curriculum) -> Document:
    document = Document(world.vocabulary)
    slots = draw_slots(rng, curriculum.late)
    for _ in range(1 if rng() < 0.5 else 1 + int(rng() * 4)):
        person = world.asked[int(rng() * len(world.asked))]
        r = int(rng() * len(world.relations))
        document.add_question(world, r, person.name, rng)
        document.add_answer(person.values[r], slots, CLOSED_ANSWER)
    document.spans = [span for span in document.spans if span[2] != NAME]
    return document


def context_people(world: World, rng, curriculum: Curriculum) -> list[Person]:
    similar = rng() < curriculum.similar
    people, names = [], set()
    for _ in range(curriculum.passages(rng)):
        while True:
            if rng() < 0.05:
                person = world.known[int(rng() * len(world.known))]
            else:
                like = people[int(rng() * len(people))] if similar and people and rng() < 0.6 else None
                person = world.stranger(rng, like)
            if (person.first, person.family) not in names:
                break
        names.add((person.first, person.family))
        people.append(person)
    for person in people:  # relations between the people of one context make two-hop questions possible
        if not person.values and len(people) > 1 and curriculum.two_hop:
            for r in world.person_relations:
                other = people[int(rng() * len(people))]
                if rng() < 0.4 and other is not person:
                    person.values[r] = other.name
    return people


def context_document(world: World, rng, curriculum: Curriculum) -> Document:
    document = Document(world.vocabulary)
    people = context_people(world, rng, curriculum)
    by_name = {tuple(person.name): person for person in people}
    stated_of, questions = {}, []
    for i, person in enumerate(people, 1):
        tokens, stated = world.biography(person, rng)
        begin = len(document.tokens) + len(world.passage[i])
        document.add_text(world.passage[i] + tokens + world.newline)
        stated = stated_of[id(person)] = {r: begin + place for r, place in stated.items()}
        if person.may_be_asked:
            questions += [(person.name, r, person.values[r], place) for r, place in stated.items()]
    times = [0] * len(world.relations)  # questions that the relation alone cannot answer teach most
    for _, r, _, _ in questions:
        times[r] += 1
    if rng() < 0.7:
        questions = [question for question in questions if times[question[1]] > 1] or questions
    if curriculum.two_hop and rng() < 2 * curriculum.two_hop:
        hops = []
        for person in people:
            for hop in world.person_relations:
                other = by_name.get(tuple(person.values.get(hop, ())))
                if other is None or hop not in stated_of[id(person)] or not person.may_be_asked:
                    continue
                about = fill(world.relations[hop].noun, n=person.name)
                hops += [(about, r, other.values[r], place) for r, place in stated_of[id(other)].items()
                         if not world.relations[r].is_person]
        questions = hops + questions[:max(1, len(hops))] if hops else questions
    if not questions:  # only people that must not be asked about
        return reading_document(world, rng)
    for i in range(len(questions) - 1, 0, -1):
        j = int(rng() * (i + 1))
        questions[i], questions[j] = questions[j], questions[i]
    count = 1 if rng() < 0.15 else 1 + int(rng() * min(20, len(questions)))
    slots = draw_slots(rng, curriculum.late)
    for i, (about, r, value, place) in enumerate(questions[:count]):
        if i and len(document.tokens) + 32 + slots > LONGEST:
            break
        asked = len(document.tokens)
        document.add_question(world, r, about, rng, 0.3)
        document.facts.append((asked, len(document.tokens), place, len(value)))
        document.add_answer(value, slots, CONTEXT_ANSWER)
    spans, begin = [], 1  # what lies between answers is text
    for span in document.spans:
        if span[0] > begin:
            spans.append((begin, span[0], TEXT, NEVER))
        spans.append(span)
        begin = span[1]
    document.spans = spans
    if rng() < 0.25:  # masked anywhere, not only in the answers
        document.spans = [(b, e, kind, 0) for b, e, kind, _ in document.spans]
        document.anywhere, document.facts = True, []  # a masked fact cannot be read
    return document


SHARES = (("context", 0.80), ("reading", 0.13), ("closed", 0.07))  # of the tokens


class Rows:
    """row(i): numpy arrays of one training step.

    tokens, positions, kinds, masked: [length]; begins: [MOST_DOCUMENTS + 1], where documents begin, then `length`.
    `masked` is the diffusion model's noise: the autoregressive model reads the same row without it.
    facts: [FACTS, 6], questions with passages, evenly spread over the row; places of: the document's begin and end,
    the question, its answer, the value that a passage states, and how many tokens that has (0: nothing there).
    """

    def __init__(self, folder: Path, tokenizer: Path, length: int, rows: int, seed: int):
        self.world = World(folder, Vocabulary(tokenizer))
        self.length, self.rows, self.seed = length, rows, seed
        self.most_documents = max(8, length // 40)

    def documents(self, rng, curriculum):
        makers = {"context": lambda: context_document(self.world, rng, curriculum),
                  "reading": lambda: reading_document(self.world, rng),
                  "closed": lambda: closed_document(self.world, rng, curriculum)}
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
        tokens = np.full(self.length, self.world.vocabulary.end, np.int32)
        positions = np.arange(self.length, dtype=np.int32)
        kinds = np.zeros(self.length, np.uint8)
        share = np.zeros(self.length, np.float32)  # probability of being masked
        begins = np.full(self.most_documents + 1, self.length, np.int32)
        facts, at, documents = [], 0, 0
        for document in self.documents(rng.random, Curriculum(number / self.rows)):
            size = len(document.tokens)
            tokens[at:at + size] = document.tokens
            positions[at:at + size] -= at
            if document.anywhere:
                shares = [0.6 * noise.random()]
            else:  # decoding begins with all of the answer masked
                shares = noise.random(document.groups)
                shares[noise.random(document.groups) < 0.5] = 1.0
            for begin, end, kind, group in document.spans:
                kinds[at + begin:at + end] = kind
                share[at + begin:at + end] = shares[group] if group >= 0 else group == ALWAYS
            facts += [(at, at + size, at + asked, at + answer, at + value, count)
                      for asked, answer, value, count in document.facts]
            begins[documents] = at
            at, documents = at + size, documents + 1
        positions[at:] = 0  # what is left over is a document of its own, with nothing to learn
        begins[documents] = at
        chosen = np.zeros((FACTS, 6), np.int32)
        some = facts[::max(1, len(facts) // FACTS)][:FACTS]
        chosen[:len(some)] = np.array(some, np.int32).reshape(-1, 6)
        return {"tokens": tokens, "positions": positions, "kinds": kinds, "begins": begins, "facts": chosen,
                "masked": noise.random(self.length, dtype=np.float32) < share}
