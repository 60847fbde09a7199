#!/usr/bin/env python3
"""write_prompt_goldens.py WORLD | gzip -9n > tests/data/world/family_prompts.jsonl.gz: prompts as documents of training spell them.

WORLD is a folder that buoy_export_world wrote, with its tokenizer. Each line: set, id, and the text of the tokens that
training would put before the answer. tests/world/family_prompt_test.cc holds models/natural*.prompt against it. Of each set
with at most five passages the first question, and one of `lookup-2` in each form.
"""

import json
import sys
from pathlib import Path

from family_documents import Document, FamilyWorld
from world_data import Vocabulary

MOST_PASSAGES = 5
FORMS_FROM = "lookup-2"


def document_text(world: FamilyWorld, item: dict) -> str:
    tables, labels = world.tables, item["labels"]
    names = [(style["name"], wording["name"]) for style in tables["styles"] for wording in tables["wordings"]]
    form = world.forms[names.index((labels["style"], labels["wording"]))]
    encode = world.vocabulary.encode
    document = Document(world, form)
    for place, passage in enumerate(item.get("passages", [])):
        document.add_passage(place, encode(" " + passage["title"]), encode(" " + passage["text"]))
    document.add(form.ask + encode(" " + item["question"]) + form.answer)
    return world.vocabulary.decode(document.tokens)


def chosen(name: str, items: list[dict]) -> list[dict]:
    if name != FORMS_FROM:
        return items[:1] if len(items[0].get("passages", [])) <= MOST_PASSAGES else []
    first = {}
    for item in items:
        first.setdefault((item["labels"]["style"], item["labels"]["wording"]), item)
    return list(first.values())


def main() -> None:
    folder = Path(sys.argv[1])
    world = FamilyWorld(folder, Vocabulary(folder / "tokenizer" / "tokenizer.json"))
    for path in sorted((folder / "sets").glob("*.jsonl")):
        items = [json.loads(line) for line in path.read_text().splitlines()]
        for item in chosen(path.stem, items):
            print(json.dumps({"set": path.stem, "id": item["id"], "text": document_text(world, item)}))


if __name__ == "__main__":
    main()
