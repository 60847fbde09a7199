#!/usr/bin/env python3
"""Writes the seed corpora of tests/fuzz beside itself. Run it again after changing it; the output is fixed."""
import gzip
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent


def safetensors(tensors, metadata=None, padding=b""):
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, payload in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header, separators=(",", ":")).encode() + padding
    return struct.pack("<Q", len(text)) + text + data


SAFETENSORS = {
    "empty": safetensors([]),
    "metadata_only": safetensors([], {"format": "pt"}),
    "one_f32": safetensors([("a", "F32", [2, 3], bytes(24))]),
    "scalar": safetensors([("s", "F64", [], bytes(8))]),
    "zero_size": safetensors([("z", "F32", [0, 7], b""), ("a", "U8", [1], b"\1")]),
    "all_types": safetensors([(t.lower(), t, [2], bytes(2 * size)) for t, size in (
        ("BOOL", 1), ("U8", 1), ("I8", 1), ("F8_E5M2", 1), ("F8_E4M3", 1), ("I16", 2), ("U16", 2), ("F16", 2),
        ("BF16", 2), ("I32", 4), ("U32", 4), ("F32", 4), ("I64", 8), ("U64", 8), ("F64", 8))], {"format": "pt"}),
    "padded": safetensors([("a", "BF16", [1, 1, 1], b"\x80\x3f")], None, b"     "),
    "unicode_name": safetensors([("\u00e9\U0001f642", "U8", [1], b"x")]),
}

LLADA = {
    "architectures": ["LLaDAModelLM"], "model_type": "llada", "d_model": 4096, "n_layers": 32, "n_heads": 32,
    "n_kv_heads": None, "mlp_hidden_size": 12288, "vocab_size": 126464, "embedding_size": 126464,
    "max_sequence_length": 4096, "rope": True, "rope_theta": 500000.0, "alibi": False, "layer_norm_type": "rms",
    "rms_norm_eps": 1e-05, "activation_type": "silu", "block_type": "llama", "block_group_size": 1,
    "weight_tying": False, "multi_query_attention": None, "mask_token_id": 126336, "eos_token_id": 126081}
DREAM = {
    "architectures": ["DreamModel"], "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "hidden_act": "silu", "vocab_size": 152064,
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "rope_scaling": None,
    "use_sliding_window": False, "tie_word_embeddings": False, "bos_token_id": 151643, "eos_token_id": 151643,
    "mask_token_id": 151666}
LLAMA31 = {
    "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "vocab_size": 128256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "attention_bias": False,
    "mlp_bias": False, "rope_theta": 500000.0,
    "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192, "rope_type": "llama3"},
    "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009]}
QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"], "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
    "max_position_embeddings": 40960, "rms_norm_eps": 1e-06, "partial_rotary_factor": 0.5,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000}, "tie_word_embeddings": True,
    "bos_token_id": 151643, "eos_token_id": 151645}
INDEX = {"metadata": {"total_size": 8}, "weight_map": {
    "model.norm.weight": "model-00001-of-00002.safetensors", "lm_head.weight": "model-00002-of-00002.safetensors"}}

CONFIG = {
    "llada": LLADA, "dream": DREAM, "llama31": LLAMA31, "qwen3": QWEN3, "index": INDEX,
    "qwen2": {**DREAM, "architectures": ["Qwen2ForCausalLM"], "mask_token_id": None},
    "generation": {"eos_token_id": [5, 7], "temperature": 0.6},
    "quantised": {**LLAMA31, "quantization_config": {"bits": 4}},
}


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


BUOY = lines(
    {"id": "a/1", "kind": "own", "question": "How deep?", "answers": ["4 m", "four metres"],
     "passages": [{"title": "Deep", "text": "It is 4 m deep.", "gold": True, "has_answer": True}, {"text": "No."}],
     "labels": {"hop": 1}},
    {"id": "a 1", "question": "Who?", "answers": "Ines", "passages": [], "prompt": "Who? Say one name."})
QUESTIONS = {
    "buoy": BUOY,
    "gzip": gzip.compress(BUOY, mtime=0),
    "plain": b"\xef\xbb\xbf" + lines({"question": "Two and two?", "answer": 4}) + b"\r\n \n" + lines(
        {"question": "Wie hei\u00dft sie?", "answer": ["Stra\u00dfe", 7.5]}).strip(),
    "fid": lines({"id": 7, "question": "What?", "answers": ["a reef"], "ctxs": [
        {"title": "Buoy", "text": "It marks a reef.", "isgold": 1, "hasanswer": True}, "just text"]}),
    "authors": lines({"query": "Who?", "output": [{"answer": "Ines"}], "passage": [{"segment": "Ines did."}]}),
    "kilt": lines({"input": "Which sea?", "output": [
        {"answer": "Grey Sea", "provenance": [{"title": "Grey Sea"}]}, {"provenance": [{"title": "Sea"}]}]}),
    "key_value": lines({"ordered_kv_records": [["k", "v"], ["l", "w"]], "key": "l", "value": "w"}),
    "bad_lines": b'{"question": "\xff"}\n[1]\n{"question": " "}\n' + BUOY,
}

MODELS = """[models]
plain = "models/plain"
[models.mdm]
path = "models/mdm"
algorithm = "entropy"
temperature = 0.2
steps = 32
"""
STUDY = {
    "whole": MODELS + """[decoding]
max_new_tokens = 32
eps = 1e-3
[prompt]
with_passages = "shared-passages"
chat = "never"
first_line = true
[[data]]
name = "made"
[data.world]
people = "unknown"
count = 20
two_hop = true
[[data]]
name = "file"
file = "questions.jsonl"
[[trace]]
name = "seen"
data = "made"
models = ["mdm"]
layers = "0,1"
float16 = true
[[evaluate]]
name = "scores"
data = ["made", "file"]
passages = 5
sweep = "gold-position"
heads = { trace = "seen", share = 0.1, controls = 2 }
columns_from = "seen"
[report]
analyses = ["floating"]
""",
    "small": 'models = { a = "a" }\ntrace = [{ name = "t", data = "d" }]\ndata = [{ name = "d", file = "f" }]\n',
    "unknown_key": MODELS + '[[evaluate]]\nname = "e"\ndata = "d"\nlimits = 3\n',
    "values": 'title = """a\nb"""\nout = \'o\'\na.b.c = [1_000, 0x1F, inf, -nan, 1979-05-27T07:32:00Z, { x = [] }]\n',
}

CONDITIONS = [{"name": "closed-book", "closed_book": True}, {"name": "passages"},
              {"name": "p=1", "sweep": {"axis": "gold-position", "value": "1"}}]
RUN = {"models": {"m": {"family": "LLaDA", "masked_diffusion": True},
                  "a": {"family": "Llama", "masked_diffusion": False}},
       "data": {"s": {}, "t": {}}, "conditions": CONDITIONS}


def answer(model, data, condition, number, **more):
    scores = {"exact_match": number % 2, "substring": 1, "substring_words": 1.0, "f1": 0.5, "words": 2}
    return {"model": model, "set": data, "condition": condition, "id": str(number), "question": "Q?",
            "golds": ["g"], "answer": "a", "scores": scores, "ended": True, "tokens": 2, "prompt_tokens": 7,
            "passages": 3, "cut_passages": 0, "gold_positions": [number], "labels": {"kind": str(number)},
            "prompt": "Q?", **more}


FAILED = {"model": "m", "set": "s", "condition": "passages", "id": "9", "golds": [], "error": "too long"}
ANSWERS = {
    "record": lines(answer("m", "s", "passages", 1, attention={"gold_mass": 0.25})).strip(),
    "failure": lines(FAILED).strip(),
    "run": lines(RUN, *(answer("m", "s", c["name"], n) for c in CONDITIONS[:2] for n in (1, 2))),
    "pair": lines(RUN, *(answer(m, "s", c["name"], 1) for m in "ma" for c in CONDITIONS[:2])),
    "sets": lines(RUN, *(answer("m", s, "passages", n, attention={"gold_mass": n}) for s in "st" for n in (1, 2)),
                  FAILED),
}

PROMPT = {
    "whole": "{{! a comment }}\n{{#region rules}}Be brief.{{/region}}\n  {{#passages}}  \n"
             "{{number}}{{#title}} ({{title}}){{/title}}: {{text}}\n{{/passages}}\n"
             "{{^passages}}\nNothing.\n{{/passages}}\nQ: {{ question }}\n",
    "question": "\ufeffFrage f\u00fcr dich: {{question}}\r\nAntwort:\r\n",
    "two_regions": "{{#region first}}{{question}}{{/region}} {{#passages}}{{text}}{{/passages}} {{question}} {x} }}",
    "not_closed": "{{question}} {{#passages}}{{#title}}{{title}}{{/passages}}",
}


# Each uses many constructs of the language; tests/data/text/jinja_cases.json.gz has them one by one.
CHAT_TEMPLATE = {
    "headers": "{% for m in messages %}{% set c = '<|h|>' + m['role'] + '\\n' + m['content'] | trim + '<|e|>' %}"
               "{% if loop.index0 == 0 %}{% set c = bos_token + c %}{% endif %}{{ c }}{% endfor %}"
               "{% if add_generation_prompt %}{{ '<|h|>assistant' }}{% endif %}",
    "turns": "{%- set ns = namespace(last=messages|length - 1, found=false) %}\n{%- for m in messages[::-1] %}\n"
             "  {%- if not ns.found and m.role == \"user\" and m.content is string %}{%- set ns.last = "
             "(messages|length - 1) - loop.index0 %}{%- set ns.found = true %}{%- endif %}\n{%- endfor %}\n"
             "{%- for m in messages %}{%- if '</think>' in m.content %}{{- m.content.split('</think>')[-1]"
             ".lstrip('\\n') }}{%- elif loop.last or m.role in ['user', 'system'] %}{{- m.content ~ loop.index }}"
             "{%- else %}{%- continue %}{%- endif %}{%- endfor %}",
    "macros": "{% macro show(x, mark='!', n=1) -%}{% if n > 0 %}[{{ x }}{{ mark }}]{{ show(x, n=n - 1) }}{% endif %}"
              "{%- endmacro %}{{ show(messages[0].role) }}{{ show('a', '?', 3) | upper }}{% set t %}{{ show(1) }}"
              "{% endset %}{% filter trim %} {{ t }} {% endfilter %}{% with a = 1, b = t %}{{ a }}{{ b }}{% endwith %}",
    "values": "{{ {'a': [1, 2.5, none, true], 'b': (1,)} | tojson(indent=2) }}{{ [3, 1, 2] | sort | join(', ') }}"
              "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}"
              "{{ 7 // 2 }}{{ -7 % 3 }}{{ 2 ** 8 }}{{ 1 < 2 <= 3 }}{{ 'x' * 3 }}{{ 'a' if number is odd else 'b' }}"
              "{{ messages[1:-1:2] }}{{ range(3) | list }}{{ '%s %d' % ('a', 1) }}{{ '{}'.format(half) }}"
              "{{ strftime_now('%d %b %Y') }}{{ messages[0].items() | list }}{{ 'a b'.split() | first | default('x') }}",
    "raw": "  {%- raw -%} {{ x }} {%+ endraw +%}\n{# note -#}\n {{- 'q\\'\\x41\\u00e9' -}} {{ x.y is defined }}",
}


def main():
    for folder, files in (("safetensors", SAFETENSORS), ("questions", QUESTIONS), ("answers", ANSWERS),
                          ("study", {k: v.encode() for k, v in STUDY.items()}),
                          ("prompt", {k: v.encode() for k, v in PROMPT.items()}),
                          ("chat_template", {k: v.encode() for k, v in CHAT_TEMPLATE.items()}),
                          ("config", {k: json.dumps(v).encode() for k, v in CONFIG.items()})):
        (HERE / folder).mkdir(exist_ok=True)
        for name, data in files.items():
            (HERE / folder / name).write_bytes(data)
    words = sorted({key for config in CONFIG.values() for key in config} | {
        "weight_map", "rope_type", "type", "default", "llama3", "factor", "low_freq_factor", "high_freq_factor",
        ".safetensors", "dtype", "shape", "data_offsets", "__metadata__", "BF16", "F32", "I64", "use_mrope",
        "include_bias", "scale_logits", "input_emb_norm", "attention_layer_norm", "layer_norm_with_affine"})
    words += ["1e308", "-1", "9223372036854775808", "18446744073709551615", "2147483648", "null", "true", "1e-320"]
    (HERE / "json.dict").write_text("".join(f'"{word}"\n' for word in words))


if __name__ == "__main__":
    main()
