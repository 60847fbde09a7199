// Writes Llama 2's tokenizer.json from the vocabulary and the merges that the npm package llama-tokenizer-js holds,
// and what that package, an implementation of its own, says about made texts: for tests/text/reference_test.cc.
//
//   node tools/llama2_tokenizer.mjs <folder of the package> <folder of fetch_tokenizers>

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { randomNumbers, textMaker } from "./tokenizer_texts.mjs";

const [source, cache] = process.argv.slice(2).map((path) => resolve(path));
const { LlamaTokenizer } = await import(pathToFileURL(join(source, "llama-tokenizer.js")));
const llama = new LlamaTokenizer();

const special = (id, content) => (
  { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true });
const text = (string) => ({ pattern: { String: string } });
const merges = [...llama.merges].sort((a, b) => a[1] - b[1]).map(([pair]) => pair);
const file = {
  version: "1.0", truncation: null, padding: null,
  added_tokens: [special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")],
  normalizer: { type: "Sequence", normalizers: [
    { type: "Prepend", prepend: "\u2581" }, { type: "Replace", ...text(" "), content: "\u2581" }] },
  pre_tokenizer: null,
  post_processor: { type: "TemplateProcessing",
    single: [{ SpecialToken: { id: "<s>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
    pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: { "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] } } },
  decoder: { type: "Sequence", decoders: [{ type: "Replace", ...text("\u2581"), content: " " },
    { type: "ByteFallback" }, { type: "Fuse" }, { type: "Strip", content: " ", start: 1, stop: 0 }] },
  model: { type: "BPE", dropout: null, unk_token: "<unk>", continuing_subword_prefix: null, end_of_word_suffix: null,
    fuse_unk: true, byte_fallback: true,
    vocab: Object.fromEntries(llama.vocabById.map((token, id) => [token, id])), merges },
};
mkdirSync(join(cache, "llama2"), { recursive: true });
writeFileSync(join(cache, "llama2", "tokenizer.json"), JSON.stringify(file));
writeFileSync(join(cache, "llama2", "tokenizer_config.json"), JSON.stringify({ bos_token: "<s>", eos_token: "</s>" }));

// The package knows no added tokens in text, and its order of merges goes wrong where bytes outnumber characters.
const random = randomNumbers(77);
const make = textMaker(random, [], []);
const lines = [];
while (lines.length < 3000) {
  const made = make(1 + Math.floor(random() * 60)).replaceAll("<", "(");
  if (llama.mapCharactersToTokenIds(made, false, true).length > made.length + 1) continue;
  const ids = llama.encode(made, false, true);
  lines.push(JSON.stringify({ text: made, ids, decoded: llama.decode(ids, false, true) }));
}
const target = join(cache, "reference", "vectors");
mkdirSync(target, { recursive: true });
writeFileSync(join(target, "llama_tokenizer_js.jsonl"), lines.join("\n") + "\n");
