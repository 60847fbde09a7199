// Encodes and decodes made texts with the npm package `tokenizers` (the Rust library that released tokenizer.json
// files are made with) and writes what it says, for tests/text/reference_test.cc. docs/tokenizers.md tells more.
//
//   node tools/tokenizer_reference.mjs <folder of fetch_tokenizers>            all tokenizers there, and variants
//   node tools/tokenizer_reference.mjs <folder of fetch_tokenizers> --golden   a few texts of each variant, which
//                                                                              the repository keeps

import { createRequire } from "node:module";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const data = join(root, "tests/data/text");
const cache = resolve(process.argv[2]);
const golden = process.argv.includes("--golden");
const { Tokenizer } = createRequire(import.meta.url)(join(cache, "reference", "package"));

const TEXTS = { real: 3000, variant: 1000, golden: 24 };

function randomNumbers(seed) {  // mulberry32
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const RANGES = [
  [0x20, 0x7e], [0x61, 0x7a], [0x41, 0x5a], [0x30, 0x39], [0x09, 0x0d], [0x20, 0x20], [0xa0, 0x24f], [0x300, 0x36f],
  [0x370, 0x3ff], [0x400, 0x4ff], [0x5d0, 0x5ea], [0x621, 0x64a], [0x905, 0x939], [0x93e, 0x94c], [0xe01, 0xe3a],
  [0x1100, 0x1112], [0x1161, 0x1175], [0x11a8, 0x11c2], [0x1680, 0x1680], [0x1e00, 0x1eff], [0x2000, 0x206f],
  [0x2150, 0x218b], [0x2581, 0x2581], [0x3000, 0x3002], [0x3041, 0x3096], [0x30a1, 0x30fa], [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3], [0xf900, 0xfa6d], [0xfe00, 0xfe0f], [0xff01, 0xff5e], [0x1d400, 0x1d454], [0x1f300, 0x1f64f],
  [0x0, 0x8], [0xe000, 0xe010], [0x20000, 0x20010], [0x1f1e6, 0x1f1ff],
];

const SNIPPETS = [
  "'s", "'LL", "don't", " the", "\r\n", "  ", "\n\n", "e\u0301", "'re", "\u2581", "\u2581\u2581", "<0x0A>", "<unk>",
  "<s>", "</s>", "    ", "        ", "\t", " \n", "\u00a0", "\u3000", "1234567", "3.14", "aaaaaaa", "!!!!", " a", " in",
  "ing", "buoy", "mask", " and the", "def f(x):\n    return x", "\ufeff", "\u200d", "\ufffd", "\u180e", "$5/day//x", "HTMLParser",
  "\u4e2d\u6587", "<|mask|>", "<tool>", "<|eot_id|>", "<|mdm_mask|>", "abcdef_whole",
];

function textMaker(random, added, words) {
  const below = (limit) => Math.floor(random() * limit);
  const pick = (list) => list[below(list.length)];
  return (length) => {
    let text = "";
    let range = pick(RANGES);
    for (let i = 0; i < length; ++i) {
      if (below(3) === 0) range = pick(RANGES);
      const kind = below(24);
      if (kind < 3) text += pick(SNIPPETS);
      else if (kind === 3 && added.length > 0) text += pick(["", " "]) + pick(added) + pick(["", "", " "]);
      else if (kind < 8 && words.length > 0) text += pick(words);
      else if (kind === 8) text += pick([" ", "\n", "a", "7", "\u2581", "!"]).repeat(1 + below(20));
      else text += String.fromCodePoint(range[0] + below(range[1] - range[0] + 1));
    }
    return text;
  };
}

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
  writeFileSync(join(target, `${name}.jsonl`), vectors);
}
if (!golden) {
  for (const name of readdirSync(cache)) {
    const file = join(cache, name, "tokenizer.json");
    if (!existsSync(file)) continue;
    writeFileSync(join(target, `real_${name}.jsonl`), await reference(read(file), TEXTS.real, ++seed));
  }
}
