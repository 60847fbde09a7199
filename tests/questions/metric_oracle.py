#!/usr/bin/env python3
"""Writes tests/data/questions/metric_cases.tsv.gz: answers scored by an implementation that shares nothing with
src/buoy/questions. Run by hand with CPython 3.11 (Unicode 14.0, as utf8proc 2.8), from the root:

    python3 tests/questions/metric_oracle.py | gzip -9n > tests/data/questions/metric_cases.tsv.gz

"published" is the scoring of section 10 of the specification, written with re, string and str.lower() as the
SQuAD scripts are. "unicode" is Buoy's own variant, written with unicodedata. Cells are JSON.
"""

import collections
import json
import random
import re
import string
import sys
import unicodedata

CASES = [
    # (answer, golds)
    ("Paris", ["Paris"]),
    ("paris.", ["Paris"]),
    ("The Eiffel Tower", ["Eiffel Tower"]),
    ("A theatre, an anthem and the end", ["theatre anthem and end"]),
    ("the the the", ["a"]),
    ("The", ["The The"]),
    ("", ["Paris"]),
    ("", [""]),
    ("a", ["an"]),
    ("...", ["!"]),
    ("   ", ["the"]),
    ("Paris", ["the"]),
    ("Paris", ["the", "Paris"]),
    ("In Paris, France", ["Paris", "London"]),
    ("comparison", ["Paris", "par"]),
    ("It was the year 1984.", ["1984"]),
    ("1,984", ["1984"]),
    ("1.984", ["1984"]),
    ("19840", ["1984"]),
    ("3.14", ["314", "3.14"]),
    ("-5", ["5"]),
    ("50%", ["50 percent", "50"]),
    ("$5", ["5 dollars", "5"]),
    ("14 March 1879", ["March 14, 1879", "14 March 1879"]),
    ("Jean-Paul Sartre", ["Jean Paul Sartre", "JeanPaul Sartre"]),
    ("O'Brien", ["OBrien", "O Brien"]),
    ("O\u2019Brien", ["O'Brien"]),
    ("U.S.A.", ["USA", "U.S.A"]),
    ("u s a", ["usa"]),
    ("under_score", ["underscore", "under score"]),
    ("new\u00a0york\tcity\ncouncil", ["New York City Council"]),
    ("New  York", ["New York"]),
    ("new york new york", ["new york"]),
    ("york new", ["New York"]),
    ("to be or not to be", ["to be to be", "be be be"]),
    ("R\u00f6ntgen", ["R\u00f6ntgen", "Rontgen"]),
    ("Ro\u0308ntgen", ["R\u00f6ntgen"]),
    ("R\u00d6NTGEN", ["r\u00f6ntgen"]),
    ("caf\u00e9 \u00e0 la carte", ["cafe\u0301 a\u0300 la carte"]),
    ("a\u0300 la", ["la"]),
    ("\u00c5ngstr\u00f6m", ["A\u030angstro\u0308m", "\u212bngstr\u00f6m"]),
    ("Stra\u00dfe", ["STRASSE", "strasse"]),
    ("STRA\u1e9eE", ["Stra\u00dfe"]),
    ("\u0130stanbul", ["istanbul", "i\u0307stanbul", "Istanbul"]),
    ("D\u0131yarbak\u0131r", ["Diyarbakir", "D\u0131yarbak\u0131r", "DIYARBAKIR"]),
    ("\u039f\u0394\u039f\u03a3", ["\u03bf\u03b4\u03cc\u03c2", "\u03bf\u03b4\u03bf\u03c3", "\u03bf\u03b4\u03bf\u03c2"]),
    ("\u03a3\u03a3 \u03a3", ["\u03c3\u03c2 \u03c3"]),
    ("A\u03a3.B A\u03a3\u0301 \u03a3'", ["a\u03c3.b"]),
    ("\u039f\u03a3\u24e2 \u24c8\u03a3", ["\u03bf\u03c3\u24e2", "\u24c8\u03c2", "\u24e2\u03c2"]),
    ("\uff30\uff41\uff52\uff49\uff53", ["Paris"]),
    ("\uff11\uff19\uff18\uff14\u5e74", ["1984\u5e74", "1984"]),
    ("\u6771\u4eac\u3002", ["\u6771\u4eac"]),
    ("\u300c\u6771\u4eac\u300d", ["\u6771\u4eac"]),
    ("\uff8a\uff9d\uff76\uff78", ["\u30cf\u30f3\u30ab\u30af"]),
    ("\ud55c\uad6d", ["\u1112\u1161\u11ab\u1100\u116e\u11a8"]),
    ("1939\u20131945", ["1939-1945", "19391945", "1939 1945"]),
    ("\u201cHamlet\u201d", ["Hamlet", "\"Hamlet\""]),
    ("\u00bfQu\u00e9?", ["que", "qu\u00e9"]),
    ("\ufb01ve", ["five"]),
    ("\u212aelvin", ["Kelvin"]),
    ("\u00b5m", ["\u03bcm"]),
    ("\u00bd cup", ["1\u20442 cup", "half cup"]),
    ("x\u00b2", ["x2"]),
    ("Zu\u00adrich", ["Zurich"]),
    ("Zurich\u200b", ["Zurich"]),
    ("caf\u200de", ["cafe"]),
    ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
    ("\u0627\u0644\u0642\u0627\u0647\u0631\u0629\u060c", ["\u0627\u0644\u0642\u0627\u0647\u0631\u0629"]),
    ("a\u00b0b the\u00b0", ["\u00b0b \u00b0", "b"]),
    ("\u00aa an\u00aa", ["a ana"]),
    ("\u01c5ungla", ["\u01c6ungla", "\u01c4UNGLA"]),
    ("\u1f88\u03b4\u03b7\u03c2", ["\u1f80\u03b4\u03b7\u03c2", "\u1f00\u03b9\u03b4\u03b7\u03c2"]),
    ("\u1ff7\u0301", ["\u1ff6\u0301\u03b9"]),
    ("\U00010400\U0001f600", ["\U00010428"]),
    ("<b>Paris</b> | ^~`", ["bParisb"]),
    ("\x1cParis\x85London\u3000Rome", ["paris london rome"]),
    ("the answer is not in the passages", ["answer"]),
    ("Barack Obama Barack Obama", ["Barack Hussein Obama II"]),
    ("Obama", ["Barack Obama", "Obama"]),
]

FRAGMENTS = ["the", "a", "An", "Paris", "paris", "PARIS", "1984", "1,984", "O'Brien", "caf\u00e9", "cafe\u0301",
             "Stra\u00dfe", "strasse", "\uff30aris", "new", "York", "York.", "\u2014", "-", "(b)", "\u00a0", "",
             "\u0130zmir", "i\u0307zmir", "\u039f\u03a3", "\u03bf\u03c2", "U.S.", "us", "the\u0301", "of", "end"]


def published(text):
    text = text.lower()
    text = "".join(c for c in text if c not in set(string.punctuation))
    text = re.sub(r"\b(a|an|the)\b", " ", text)
    return " ".join(text.split())


def unicode_variant(text):
    text = unicodedata.normalize("NFD", text)
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text.casefold())
    text = "".join(c for c in text if c not in string.punctuation
                   and unicodedata.category(c)[0] != "P" and unicodedata.category(c) != "Cf")
    words, kept = re.split("(" + "|".join(map(re.escape, non_word_characters(text))) + ")", text), []
    for word in words:
        kept.append(" " if word in ("a", "an", "the") else word)
    return " ".join("".join(kept).split())


def non_word_characters(text):
    return sorted({c for c in text if unicodedata.category(c)[0] not in "LNM"}) or ["\0"]


def f1(answer, gold):
    answer, gold = answer.split(), gold.split()
    if not answer or not gold:
        return float(answer == gold)
    same = sum((collections.Counter(answer) & collections.Counter(gold)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(answer), same / len(gold)
    return 2 * precision * recall / (precision + recall)


def holds_words(answer, gold):
    answer, gold = answer.split(), gold.split()
    return any(answer[i:i + len(gold)] == gold for i in range(len(answer) - len(gold) + 1))


def score(answer, golds, rule):
    mine = rule(answer)
    norms = [rule(gold) for gold in golds]
    return [
        mine,
        max(float(mine == gold) for gold in norms),
        max(float(bool(gold) and gold in mine) for gold in norms),
        max(float(bool(gold) and holds_words(mine, gold)) for gold in norms),
        max(f1(mine, gold) for gold in norms),
        len(answer.split()),
    ]


def drawn_cases(count):
    draw = random.Random(5)
    phrase = lambda most: " ".join(draw.choice(FRAGMENTS) for _ in range(draw.randint(0, most)))
    return [(phrase(7), [phrase(3) for _ in range(draw.randint(1, 3))]) for _ in range(count)]


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    print("# rule\tanswer\tgolds\tnormalised\texact_match\tsubstring\tsubstring_words\tf1\twords")
    for answer, golds in CASES + drawn_cases(150):
        for name, rule in (("published", published), ("unicode", unicode_variant)):
            cells = [name, answer, golds, *score(answer, golds, rule)]
            print("\t".join(json.dumps(cell) for cell in cells))


if __name__ == "__main__":
    main()
