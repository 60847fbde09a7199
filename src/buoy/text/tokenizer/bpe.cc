#include "buoy/text/tokenizer/bpe.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "buoy/text/code_points.h"

namespace buoy::text {
namespace {

constexpr size_t kShortPiece = 48;  // up to here a scan over all pairs is faster than a heap

struct Symbol {
  std::int32_t id;
  std::uint32_t length;
  Merge next;  // with the symbol to the right
};

struct LinkedSymbol {
  Symbol symbol;
  std::uint32_t left;
  std::uint32_t right;
};

struct Candidate {
  std::uint32_t rank;
  std::uint32_t position;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
  }
};

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, MergeTable merges, const BpeRules& rules)
    : vocabulary_(std::move(vocabulary)),
      merges_(std::move(merges)),
      rules_(rules),
      taken_whole_(vocabulary_.size()) {
  std::vector<BpeToken> tokens;
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id) {
    if (!vocabulary_.has(id)) continue;
    if (!rules.ignore_merges) {
      tokens.clear();
      merge(vocabulary_.bytes(id), tokens);
    }
    taken_whole_[id] = rules.ignore_merges || (tokens.size() == 1 && tokens[0].id == id);
  }
}

void Bpe::encode(std::string_view piece, std::vector<BpeToken>& tokens) const {
  const std::int32_t whole = vocabulary_.find_bytes(piece);
  if (whole >= 0 && taken_whole_[whole]) {
    tokens.push_back({whole, static_cast<std::uint32_t>(piece.size())});
  } else {
    merge(piece, tokens);
  }
}

// Hands the symbols that merging begins with to add(id, length).
template <typename Add>
void Bpe::start(std::string_view piece, const Add& add) const {
  const auto add_byte = [&](char c) { add(vocabulary_.byte_id(static_cast<unsigned char>(c)), 1); };
  if (vocabulary_.alphabet() == Alphabet::kBytes) {
    for (const char c : piece) add_byte(c);
    return;
  }
  std::uint32_t unknown = 0;  // bytes of the unknown token under way
  const auto end_unknown = [&] {
    if (unknown > 0) add(rules_.unknown, unknown);
    unknown = 0;
  };
  for (size_t at = 0; at < piece.size();) {
    const std::string_view character = piece.substr(at, code_point_at(piece, at).length);
    at += character.size();
    const std::int32_t id = vocabulary_.find_bytes(character);
    if (id < 0 && !rules_.byte_fallback) {
      if (!rules_.fuse_unknown) end_unknown();
      unknown += static_cast<std::uint32_t>(character.size());
      continue;
    }
    end_unknown();
    if (id >= 0) {
      add(id, static_cast<std::uint32_t>(character.size()));
    } else {
      for (const char c : character) add_byte(c);
    }
  }
  end_unknown();
}

void Bpe::merge(std::string_view piece, std::vector<BpeToken>& tokens) const {
  if (piece.size() <= kShortPiece) {
    merge_short(piece, tokens);
  } else {
    merge_long(piece, tokens);
  }
}

void Bpe::merge_short(std::string_view piece, std::vector<BpeToken>& tokens) const {
  std::array<Symbol, kShortPiece> symbols;
  size_t count = 0;
  start(piece, [&](std::int32_t id, std::uint32_t length) { symbols[count++] = {id, length, {}}; });
  for (size_t i = 0; i + 1 < count; ++i) symbols[i].next = merges_.find(symbols[i].id, symbols[i + 1].id);

  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (symbols[i].next.rank < symbols[best].next.rank) best = i;
    }
    if (symbols[best].next.rank == Merge::kNone) break;
    symbols[best].id = symbols[best].next.result;
    symbols[best].length += symbols[best + 1].length;
    std::copy(symbols.begin() + best + 2, symbols.begin() + count, symbols.begin() + best + 1);
    --count;
    symbols[best].next = best + 1 < count ? merges_.find(symbols[best].id, symbols[best + 1].id) : Merge{};
    if (best > 0) symbols[best - 1].next = merges_.find(symbols[best - 1].id, symbols[best].id);
  }
  for (size_t i = 0; i < count; ++i) tokens.push_back({symbols[i].id, symbols[i].length});
}

void Bpe::merge_long(std::string_view piece, std::vector<BpeToken>& tokens) const {
  std::vector<LinkedSymbol> symbols;  // a merged-away symbol has length 0
  symbols.reserve(piece.size());
  std::vector<Candidate> initial;
  start(piece, [&](std::int32_t id, std::uint32_t length) {
    const auto i = static_cast<std::uint32_t>(symbols.size());
    symbols.push_back({{id, length, {}}, i - 1, i + 1});
  });
  const auto count = static_cast<std::uint32_t>(symbols.size());
  const auto look_up = [&](std::uint32_t at) -> std::uint32_t {
    const std::uint32_t right = symbols[at].right;
    symbols[at].symbol.next =
        right < count ? merges_.find(symbols[at].symbol.id, symbols[right].symbol.id) : Merge{};
    return symbols[at].symbol.next.rank;
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    if (look_up(i) != Merge::kNone) initial.push_back({symbols[i].symbol.next.rank, i});
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>{},
                                                                               std::move(initial));

  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    LinkedSymbol& here = symbols[best.position];
    const bool outdated = here.symbol.length == 0 || here.symbol.next.rank != best.rank;
    if (outdated) continue;
    LinkedSymbol& gone = symbols[here.right];
    here.symbol.id = here.symbol.next.result;
    here.symbol.length += gone.symbol.length;
    gone.symbol.length = 0;
    here.right = gone.right;
    if (here.right < count) symbols[here.right].left = best.position;
    if (look_up(best.position) != Merge::kNone) queue.push({here.symbol.next.rank, best.position});
    if (best.position > 0 && look_up(here.left) != Merge::kNone) {
      queue.push({symbols[here.left].symbol.next.rank, here.left});
    }
  }
  for (std::uint32_t i = 0; i < count; i = symbols[i].right) {
    tokens.push_back({symbols[i].symbol.id, symbols[i].symbol.length});
  }
}

}  // namespace buoy::text
