// Encodes and decodes made texts with the npm package `tokenizers` (the Rust library that released tokenizer.json
// files are made with) and writes what it says, for tests/text/reference_test.cc. docs/tokenizers.md tells more.
//
//   node tools/tokenizer_reference.mjs <folder of fetch_tokenizers>            all tokenizers there, and variants
//   node tools/tokenizer_reference.mjs <folder of fetch_tokenizers> --golden   a few texts of each variant, which
//                                                                              the repository keeps

import { gzipSync } from "node:zlib";
import { createRequire } from "node:module";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { randomNumbers, textMaker } from "./tokenizer_texts.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const data = join(root, "tests/data/text");
const cache = resolve(process.argv[2]);
const golden = process.argv.includes("--golden");
const { Tokenizer } = createRequire(import.meta.url)(join(cache, "reference", "package"));

const TEXTS = { real: 3000, variant: 1000, golden: 24 };

// Words of the vocabulary, so that long tokens come up.
function someWords(vocabulary, random) {
  const words = [];
  const spellings = Object.keys(vocabulary);
  for (const spelling of spellings) {
    if (random() < 0.02 || spellings.length < 1000)
      words.push(spelling.replaceAll("\u2581", " ").replaceAll("\u0120", " ").replaceAll("\u010a", "\n"));
    if (words.length === 2000) break;
  }
  return words;
}

async function reference(json, count, seed) {
  const random = randomNumbers(seed);
  const tokenizer = Tokenizer.fromString(JSON.stringify({ ...json, post_processor: null }));
  const added = (json.added_tokens ?? []).map((token) => token.content);
  const ids = [...new Set([...Object.values(json.model.vocab), ...(json.added_tokens ?? []).map((token) => token.id)])];
  const make = textMaker(random, added, someWords(json.model.vocab, random));
  const bytes = ids.filter((id) => /^<0x..>$/.test(tokenizer.idToToken(id)));
  const lines = [];
  const decode = async (list) => [await tokenizer.decode(list, false), await tokenizer.decode(list, true)];
  const edge = ["", " ", "  ", "a", " a", "a ", "\u2581", "\n", "\u0301", " \u2581 a", "\u{1f642}", "\u4e2d"];
  for (let i = 0; i < count; ++i) {
    const text = i < edge.length ? edge[i] : make(1 + Math.floor(random() * (golden ? 8 : i % 10 === 0 ? 200 : 40)));
    const encoding = await tokenizer.encode(text, null, { addSpecialTokens: false });
    const [decoded, skipped] = await decode(encoding.getIds());
    lines.push({ text, ids: encoding.getIds(), spans: encoding.getOffsets().flat(), decoded, skipped });
  }
  for (let i = 0; i < count / 2; ++i) {
    const from = i % 3 === 0 && bytes.length > 0 ? bytes : ids;
    const list = [];
    for (let n = Math.floor(random() * 12); n >= 0; --n) {
      const source = random() < 0.3 ? ids : from;
      list.push(source[Math.floor(random() * source.length)]);
    }
    const [decoded, skipped] = await decode(list);
    lines.push({ ids: list, decoded, skipped });
  }
  return lines.map((line) => JSON.stringify(line)).join("\n") + "\n";
}

function merged(target, patch) {  // RFC 7396
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const result = target !== null && typeof target === "object" && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const target = golden ? join(data, "reference") : join(cache, "reference", "vectors");
mkdirSync(target, { recursive: true });

let seed = 1;
for (const { name, base, patch } of read(join(data, "tokenizer_variants.json"))) {
  const json = merged(read(join(data, `${base}.json`)), patch);
  const vectors = await reference(json, golden ? TEXTS.golden : TEXTS.variant, ++seed + (golden ? 1000 : 0));
  const bytes = golden ? gzipSync(vectors, { level: 9 }) : vectors;
  writeFileSync(join(target, `${name}.jsonl${golden ? ".gz" : ""}`), bytes);
}
if (!golden) {
  for (const name of readdirSync(cache)) {
    const file = join(cache, name, "tokenizer.json");
    if (!existsSync(file)) continue;
    writeFileSync(join(target, `real_${name}.jsonl`), await reference(read(file), TEXTS.real, ++seed));
  }
}
