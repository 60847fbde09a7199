"""Documents that the family of networks is trained on: version 2 of the world.

Words and wordings come from tables.json, which the C++ generator wrote (src/buoy/world/world2*); nothing is spelled here.
Three sorts:
  reading   a biography of a known person: every token is learned
  closed    questions about known people, nothing to read: answers are learned
  context   passages, mostly about people made up for this document, then questions: answers are learned, and one name
            in some questions. A fifth of them are texts without questions, in which people are told of twice: every token is
            learned
"""

import math

from world_data import LONGEST, Person, World, compiled, fill

# What a sequence of learned tokens is. A sequence is LLaDA's unit: it has one masking ratio and one length.
ANSWER, LONG_ANSWER, CLOSED_ANSWER, NAME, KNOWN_TEXT, CONTEXT_TEXT = range(6)
KIND_NAMES = ("answer", "long", "closed", "name", "known", "text")

CURRICULUM_STEPS = 12000  # the curriculum is one of absolute steps, however many of them a run has
NAMES_HIDDEN = 0.3        # share of questions with passages in which one of the two names is learned
CONTEXTS_READ = 0.2       # share of contexts without questions
# How far the prefix of a context with questions reaches, for the prefix mask: over the questions, as in all question sets;
# over the passages, and questions are written too, as answers are; nowhere, and everything is causal. A network that begins
# with prefixes reads one passage only, whatever it is asked to write, and with a quarter of the contexts causal too
# (docs/results/2026-11-17-family-seed-1.md, 2026-11-18-family-prefix.md). So the arm begins causal, as causal-next does,
# and prefixes grow.
QUESTIONS_WRITTEN = 0.5                   # share without the questions, once all have a prefix
PREFIX_BEGINS, PREFIX_WHOLE = 1500, 3500  # steps: from the first on some contexts have a prefix, from the second on all


class Curriculum:
    """How hard contexts are at a step."""

    def __init__(self, step: int):
        progress = step / CURRICULUM_STEPS
        # One passage, then two, then up to ten.
        self.most = 1 if progress < 0.02 else 2 if progress < 0.08 else min(10, 3 + int((progress - 0.08) / 0.22 * 8))
        self.long = 0.35 if progress > 0.10 else 0.0    # share of contexts with a list or a life
        self.similar = 0.3 if progress > 0.20 else 0.0  # share of contexts in which people share names
        self.two_hop = 0.4 if progress > 0.20 else 0.0  # share of contexts with questions in two hops
        self.dated = 0.2 if progress > 0.20 else 0.0    # share of contexts with dated records that contradict
        self.late = progress > 0.5
        # Share of contexts without any prefix.
        self.causal = min(1.0, max(0.0, (PREFIX_WHOLE - step) / (PREFIX_WHOLE - PREFIX_BEGINS)))

    def passages(self, rng) -> int:
        if self.late and rng() < 0.05:
            return 11 + int(rng() * 10)
        return self.most if rng() < 0.4 else 1 + int(rng() * self.most)


class Form:
    """A style of labels and a wording of the prompt, as tokens."""

    def __init__(self, world, style: dict, wording: dict):
        encode = world.vocabulary.encode
        label, self.after = style["text"].split("{text}")
        self.after = encode(self.after)
        self.labels = []  # for every place the tokens before and behind the title; None: no title
        for i in range(1, world.tables["most_passages"] + 1):
            parts = label.replace("{number}", str(i)).replace("{letter}", chr(64 + i)).split("{title}")
            self.labels.append([encode(part.rstrip(" ")) for part in parts])
        self.before = encode(wording["before_passages"])
        ask, answer = wording["question"].split("{question}")
        self.ask, self.answer = encode(ask.rstrip(" ")), encode(answer)

    def label(self, place: int, name: list[int]) -> list[int]:
        first, *rest = self.labels[place]
        return first + (name + rest[0] if rest else [])


class FamilyWorld(World):
    def __init__(self, folder, vocabulary):
        super().__init__(folder, vocabulary)
        tables = self.tables
        self.forms = [Form(self, style, wording) for style in tables["styles"] for wording in tables["wordings"]]
        self.list_names = [vocabulary.encode(f" {name}:") for name in tables["list_names"]]
        self.list_questions = [compiled(text, vocabulary) for text in tables["list_questions"]]
        self.life_questions = [compiled(text, vocabulary) for text in tables["life_questions"]]
        self.record = compiled(tables["record_statement"], vocabulary)
        self.newest = vocabulary.encode(" " + tables["newest_counts"])
        self.years = [vocabulary.encode(f" {year}") for year in range(tables["first_year"], tables["last_year"] + 1)]
        self.semicolon = vocabulary.encode(";")

    def any_form(self, rng) -> Form:
        return self.forms[int(rng() * len(self.forms))]

    def list_answer(self, person, relations) -> list[int]:
        tokens = []
        for r in sorted(relations):
            tokens += (self.semicolon if tokens else []) + self.list_names[r] + person.values[r]
        return tokens

    def life_answer(self, person, relations) -> list[int]:
        tokens = []
        for r in sorted(relations):
            who = self.pronouns[person.first % 2] if tokens else person.name
            tokens += fill(self.relations[r].statements[0], s=who, v=person.values[r])
        return tokens


class Document:
    """Tokens; `answered` marks those of answers, and of questions that are written, which with the prefix mask see only what
    is before them; sequences (begin, end, kind, end of what is read) of learned tokens."""

    def __init__(self, world, form: Form):
        self.world, self.form = world, form
        self.tokens, self.answered, self.sequences = [world.vocabulary.begin], [False], []

    def add(self, tokens, answered=False):
        self.tokens += tokens
        self.answered += [answered] * len(tokens)

    def add_passage(self, place: int, name, tokens):
        if place == 0:
            self.add(self.form.before)
        self.add(self.form.label(place, name) + tokens + self.form.after)

    def learn_all(self, kind: int, rng, causal=0.0):
        """A text: for the prefix mask it is cut somewhere into a prefix and what is written behind it; a share of them,
        `causal`, has no prefix."""
        size, place = len(self.tokens), rng()
        self.end_prefix(1 if place < causal else 1 + int((place - causal) / (1 - causal) * (size - 1)))
        self.sequences.append((1, size, kind, size))

    def end_prefix(self, cut: int):
        self.answered = [place >= cut for place in range(len(self.tokens))]

    def add_question(self, template, about, newest=False, written=False):
        """Returns where its two names are."""
        if self.answered[-1]:
            self.add(self.world.newline, written)
        name = len(self.tokens) + len(self.form.ask) + len(template[0][1]) + len(about) - 2
        asked = self.form.ask + fill(template, n=about) + (self.world.newest if newest else []) + self.form.answer
        self.add(asked, written)
        return name

    def add_answer(self, value, slots: int, kind: int):
        """Behind the first end token nothing is read; masked networks learn to fill those places too."""
        begin = len(self.tokens)
        self.add(value + [self.world.vocabulary.end] * (slots - len(value)), answered=True)
        self.sequences.append((begin, begin + slots, kind, begin + len(value) + 1))


class Slots:
    """How many places answers have in a document."""

    def __init__(self, world, rng):
        tables = world.tables
        self.short = tables["short_slots"] if rng() < 0.8 else 5 + int(rng() * 8)
        self.long = tables["long_slots"] if rng() < 0.8 else tables["most_long"] + 2 + int(rng() * 12)


def reading_document(world, rng) -> Document:
    document = Document(world, world.any_form(rng))
    person = world.known[int(rng() * len(world.known))]
    document.add_passage(0, person.name, world.biography(person, rng)[0])
    document.learn_all(KNOWN_TEXT, rng)
    return document


def closed_document(world, rng) -> Document:
    document = Document(world, world.any_form(rng))
    slots = Slots(world, rng)
    for _ in range(1 if rng() < 0.5 else 1 + int(rng() * 4)):
        person = world.asked[int(rng() * len(world.asked))]
        r = int(rng() * len(world.relations))
        document.add_question(choice(world.relations[r].questions, rng), person.name)
        document.add_answer(person.values[r], slots.short, CLOSED_ANSWER)
    return document


def choice(items, rng):
    return items[int(rng() * len(items))]


class Context:
    """People, what their passages say, and the questions that this answers."""

    def __init__(self, world, rng, curriculum):
        self.world, self.rng, self.curriculum = world, rng, curriculum
        self.dated = rng() < curriculum.dated
        self.people = self.draw_people()
        self.relate()
        self.passages = []  # person, tokens, stated relations
        for person in self.people:
            tokens, stated = world.biography(person, rng)
            self.passages.append((person, tokens, stated))
        self.newest = {}  # (name, relation) of contradicted facts > the right value
        if self.dated:
            self.contradict()
            self.date()

    def draw_people(self):
        world, rng = self.world, self.rng
        count = self.curriculum.passages(rng)
        pick = lambda: world.stranger(rng)
        if rng() < self.curriculum.similar and count > 1:
            side = max(2, math.ceil(math.sqrt(count * 1.3)))  # some of the combinations are held out
            firsts = [int(rng() * len(world.first_names)) for _ in range(side)]
            families = [int(rng() * len(world.family_names)) for _ in range(side)]

            def pick():
                first, family = choice(firsts, rng), choice(families, rng)
                return None if (first, family) in world.taken else Person(first, family, world.name(first, family),
                                                                          {}, True)
        people, names = [], set()
        for _ in range(20 * count):  # few names may not make enough people
            person = choice(world.known, rng) if rng() < 0.05 else pick()
            if person and (person.first, person.family) not in names:
                names.add((person.first, person.family))
                people.append(person)
            if len(people) == count:
                break
        return people or [world.stranger(rng)]

    def relate(self):
        """Relations between the people of one context make questions in two hops possible."""
        if len(self.people) < 2 or not self.curriculum.two_hop:
            return
        for person in self.people:
            for r in self.world.person_relations if not person.values else ():
                other = choice(self.people, self.rng)
                if self.rng() < 0.4 and other is not person:
                    person.values[r] = other.name

    def contradict(self):
        """A second record of one or two strangers, which says something else where both speak of the same."""
        strangers = [entry for entry in self.passages if entry[0] not in self.world.known]
        for person, _, stated in strangers[:1 + int(self.rng() * 2)]:
            double = Person(person.first, person.family, person.name, {}, False)
            tokens, told = self.world.biography(double, self.rng)
            both = [r for r in told if r in stated and double.values[r] != person.values[r]]
            if both:
                self.passages.append((double, tokens, told))
                for r in both:
                    self.newest[tuple(person.name), r] = None
        for i in range(len(self.passages) - 1, 0, -1):
            j = int(self.rng() * (i + 1))
            self.passages[i], self.passages[j] = self.passages[j], self.passages[i]

    def date(self):
        latest = {}
        years = {}
        for i, (person, tokens, stated) in enumerate(self.passages):
            name = tuple(person.name)
            while True:  # no two records of one person have the same year
                year = int(self.rng() * len(self.world.years))
                if year not in years.setdefault(name, set()):
                    break
            years[name].add(year)
            self.passages[i] = (person, fill(self.world.record, y=self.world.years[year]) + tokens, stated)
            for r in stated:
                if (name, r) in self.newest and year > latest.get((name, r), -1):
                    latest[name, r], self.newest[name, r] = year, person.values[r]

    def retell(self):
        """Tells of the same people again, in other words: what is said twice can be looked up in the first telling."""
        most = self.world.tables["most_passages"]
        size = sum(len(tokens) + 8 for _, tokens, _ in self.passages)
        for person in sorted(self.people, key=lambda _: self.rng()):
            tokens, stated = self.world.biography(person, self.rng)
            size += len(tokens) + 8
            if len(self.passages) == most or size + 120 > LONGEST:
                break
            self.passages.append((person, tokens, stated))

    def long_question(self):
        """A list or a life of somebody who has one passage; nothing if its length is not right."""
        tables, rng = self.world.tables, self.rng
        person, _, stated = choice(self.passages, rng)
        if not person.may_be_asked or any(key[0] == tuple(person.name) for key in self.newest):
            return None
        listed = rng() < 0.5
        answer = (self.world.list_answer if listed else self.world.life_answer)(person, stated)
        if len(answer) > tables["most_long"]:
            return None
        template = choice(self.world.list_questions if listed else self.world.life_questions, rng)
        return person, template, answer

    def questions(self, without=None):
        """(template, about, value, whether the newest record counts) in drawn order."""
        rng, relations = self.rng, self.world.relations
        facts = [(person, r) for person, _, stated in self.passages for r in stated
                 if person.may_be_asked and person is not without]
        times = [0] * len(relations)  # questions that the relation alone cannot answer teach most
        for _, r in facts:
            times[r] += 1
        if rng() < 0.7:
            facts = [fact for fact in facts if times[fact[1]] > 1] or facts
        asked = [(r, person.name, self.newest.get((tuple(person.name), r)), person.values[r]) for person, r in facts]
        if self.dated and self.newest:  # mostly what the records contradict each other on
            told = [question for question in asked if question[2] is not None]
            asked = told + asked[:len(told)]
        elif rng() < self.curriculum.two_hop:
            hops = self.hops(without)
            asked = hops + asked[:max(1, len(hops))] if hops else asked
        for i in range(len(asked) - 1, 0, -1):
            j = int(rng() * (i + 1))
            asked[i], asked[j] = asked[j], asked[i]
        return [(choice(relations[r].questions, rng), about, newest or value, newest is not None)
                for r, about, newest, value in asked]

    def hops(self, without):
        stated_of = {tuple(person.name): (person, stated) for person, _, stated in self.passages}
        found = []
        for person, stated in stated_of.values():
            for hop in self.world.person_relations:
                if hop not in stated or not person.may_be_asked:
                    continue
                other, told = stated_of.get(tuple(person.values[hop]), (None, ()))
                if other is None or other is without:
                    continue
                about = fill(self.world.relations[hop].noun, n=person.name)
                found += [(r, about, None, other.values[r]) for r in told if not self.world.relations[r].is_person]
        return found


def context_document(world, rng, curriculum: Curriculum) -> Document:
    while True:
        context = Context(world, rng, curriculum)
        if sum(len(tokens) + 8 for _, tokens, _ in context.passages) + 120 < LONGEST:
            break
    document = Document(world, world.any_form(rng))
    read = rng() < CONTEXTS_READ
    if read and not context.dated:
        context.retell()
    for place, (person, tokens, _) in enumerate(context.passages):
        document.add_passage(place, person.name, tokens)
    if read:
        document.learn_all(CONTEXT_TEXT, rng, curriculum.causal)
        return document
    slots = Slots(world, rng)
    reach = rng()
    causal = reach < curriculum.causal
    written = reach < curriculum.causal + QUESTIONS_WRITTEN * (1 - curriculum.causal)
    long = context.long_question() if rng() < curriculum.long else None
    questions = context.questions(without=long[0] if long else None)
    count = min(len(questions), 0 if long and rng() < 0.5 else 1 if rng() < 0.15 else 1 + int(rng() * 20))
    order = [long] if long else []
    order = order + questions[:count] if rng() < 0.5 else questions[:count] + order
    if not order:  # only people that must not be asked about
        document.learn_all(CONTEXT_TEXT, rng, curriculum.causal)
    for question in order:
        places = slots.long if question is long else slots.short
        if document.sequences and len(document.tokens) + 40 + places > LONGEST:
            break
        if question is long:
            person, template, value = question
            about, newest, kind = person.name, False, LONG_ANSWER
        else:
            template, about, value, newest = question
            kind = ANSWER
        name = document.add_question(template, about, newest, written)
        if rng() < NAMES_HIDDEN:
            hidden = name + int(rng() * 2)
            document.sequences.append((hidden, hidden + 1, NAME, hidden + 1))
        document.add_answer(value, places, kind)
    if causal:
        document.end_prefix(1)
    return document
