#!/usr/bin/env python3
"""Prints COUNT passages of 100 made-up words each, whose frequencies fall as in language, as JSON Lines.

With a second argument, every 500th passage leaves a question of six of its words there. docs/retrieval.md uses it.
"""

import itertools
import json
import random
import sys

count = int(sys.argv[1])
draw = random.Random(1)
words = set()
while len(words) < 60_000:
    words.add("".join(draw.choice("etaoinshrdlucmfwypvbgkjqxz") for _ in range(draw.randint(3, 10))))
words = sorted(words)
draw.shuffle(words)
weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))
questions = []
for number in range(count):
    passage = draw.choices(words, cum_weights=weights, k=100)
    if number % 500 == 0:
        questions.append("what is the " + " ".join(draw.sample(passage, 6)) + "?\n")
    text = ". ".join(" ".join(passage[at : at + 14]) for at in range(0, 100, 14)) + "."
    print(json.dumps({"id": str(number), "title": " ".join(passage[:2]), "text": text}))
if len(sys.argv) > 2:
    with open(sys.argv[2], "w") as file:
        file.writelines(questions)
