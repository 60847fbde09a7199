#!/usr/bin/env python3
"""Makes the tokenizer of the bundled pair from the world's tables: build_tokenizer.py TABLES FOLDER

A byte-level BPE in the ordinary tokenizer.json layout. Every word of the world is one token: the file sets
`ignore_merges`, so a piece of text that is a token as a whole is taken as that token. Other text falls back on
merges learned from the same words. The size is fixed, so the pair's weights do not change shape when a wording does.
"""

import collections
import json
import re
import sys
from pathlib import Path

from pieces import PIECES

SIZE = 2048
SPECIAL = ["<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>"]
# Version 1 knows no line that begins with a space; in version 2 that space belongs to the word behind it.
PATTERNS = {1: r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+",
            2: r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"}
FRAME = ["Passage", "Question", "Answer", ":", ".", "?", ",", "\n"] + [f" {i}" for i in range(1, 33)]


def byte_alphabet() -> dict[int, str]:
    """The printable character that stands for each byte in byte-level BPE files."""
    shown = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {byte: chr(byte) for byte in shown}
    for byte in range(256):
        if byte not in alphabet:
            alphabet[byte] = chr(256 + len(alphabet) - len(shown))
    return alphabet


def spell(text: str) -> str:
    alphabet = byte_alphabet()
    return "".join(alphabet[byte] for byte in text.encode())


def world_pieces(tables: dict) -> list[str]:
    """Every piece that the world's texts can be split into, in a fixed order."""
    texts = [" " + name for name in tables["first_names"] + tables["family_names"]] + [" She", " He"]
    for relation in tables["relations"]:
        texts += [" " + word for part in relation["parts"] for word in part]
        texts += [" " + text for text in relation["statements"] + relation["questions"] + [relation["noun"]]]
    texts += version2_texts(tables) if tables.get("version") == 2 else []
    pieces = dict.fromkeys(FRAME)
    for text in texts:
        for between in re.split(r"\{\w+\}", text):  # what fills a slot is in the lists of words
            pieces.update(dict.fromkeys(PIECES.findall(between)))
    return [piece for piece in pieces if piece != " "]


def version2_texts(tables: dict) -> list[str]:
    """Labels with their numbers and letters, the words around them, and what long answers and dates are made of."""
    texts = [style["text"].replace("{number}", str(i)).replace("{letter}", chr(64 + i))
             for style in tables["styles"] for i in range(1, tables["most_passages"] + 1)]
    texts += [wording[part] for wording in tables["wordings"] for part in ("before_passages", "question")]
    texts += [" " + text for text in tables["list_questions"] + tables["life_questions"]]
    texts += [" " + tables["record_statement"], " " + tables["newest_counts"], ";"]
    texts += [f" {name}:" for name in tables["list_names"]]
    return texts + [f" {year}" for year in range(tables["first_year"], tables["last_year"] + 1)]


def learn_merges(words: list[str], count: int) -> list[tuple[str, str]]:
    """Plain byte pair encoding: the most frequent pair first, the alphabetically first of equals."""
    spelled = [list(spell(word)) for word in words]
    merges = []
    while len(merges) < count:
        pairs = collections.Counter(pair for word in spelled for pair in zip(word, word[1:]))
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for word in spelled:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i:i + 2] = ["".join(best)]
                i += 1
    return merges


def build(tables: dict) -> dict:
    pieces = world_pieces(tables)
    vocabulary = dict.fromkeys(byte_alphabet().values())
    vocabulary.update(dict.fromkeys(spell(piece) for piece in pieces))
    merges = []
    for merge in learn_merges([piece for piece in pieces if len(piece) > 3], SIZE):
        if len(vocabulary) + len(SPECIAL) == SIZE:
            break
        merges.append(list(merge))
        vocabulary["".join(merge)] = None
    assert len(vocabulary) + len(SPECIAL) == SIZE, "too many words for this size"
    special = [{"id": len(vocabulary) + i, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for i, token in enumerate(SPECIAL)]
    begin = {"id": SPECIAL[0], "ids": [special[0]["id"]], "tokens": [SPECIAL[0]]}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": PATTERNS[tables.get("version", 1)]}, "behavior": "Isolated",
             "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": SPECIAL[0], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {SPECIAL[0]: begin}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                  "vocab": {token: i for i, token in enumerate(vocabulary)}, "merges": merges},
    }


def main() -> None:
    tables, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = build(tables)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[0], "eos_token": SPECIAL[1],
              "pad_token": SPECIAL[1], "add_bos_token": True, "clean_up_tokenization_spaces": False,
              "model_max_length": 2048}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    print(json.dumps({"size": SIZE, "words": len(world_pieces(tables)), "merges": len(tokenizer["model"]["merges"])}))


if __name__ == "__main__":
    main()
