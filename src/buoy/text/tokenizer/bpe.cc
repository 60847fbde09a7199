#include "buoy/text/tokenizer/bpe.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

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

Bpe::Bpe(Vocabulary vocabulary, MergeTable merges, bool ignore_merges)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), taken_whole_(vocabulary_.size()) {
  std::vector<BpeToken> tokens;
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id) {
    if (!vocabulary_.has(id)) continue;
    if (!ignore_merges) {
      tokens.clear();
      merge(vocabulary_.bytes(id), tokens);
    }
    taken_whole_[id] = ignore_merges || (tokens.size() == 1 && tokens[0].id == id);
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

void Bpe::merge(std::string_view piece, std::vector<BpeToken>& tokens) const {
  if (piece.size() <= kShortPiece) {
    merge_short(piece, tokens);
  } else {
    merge_long(piece, tokens);
  }
}

void Bpe::merge_short(std::string_view piece, std::vector<BpeToken>& tokens) const {
  std::array<Symbol, kShortPiece> symbols;
  size_t count = piece.size();
  for (size_t i = 0; i < count; ++i)
    symbols[i] = {vocabulary_.byte_id(static_cast<unsigned char>(piece[i])), 1, {}};
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
  const auto count = static_cast<std::uint32_t>(piece.size());
  std::vector<LinkedSymbol> symbols(count);  // a merged-away symbol has length 0
  std::vector<Candidate> initial;
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols[i] = {{vocabulary_.byte_id(static_cast<unsigned char>(piece[i])), 1, {}}, i - 1, i + 1};
  }
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
