// Made texts for tools/tokenizer_reference.mjs and tools/llama2_tokenizer.mjs.

export function randomNumbers(seed) {  // mulberry32
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

// Texts that are hard to encode; some hold added tokens and words of the vocabulary.
export function textMaker(random, added, words) {
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
