#include "buoy/world/haystack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/world/hay.h"

namespace buoy::world {
namespace {

constexpr std::uint32_t kDeepest = 100;       // percent
constexpr std::uint32_t kLongest = 1U << 24;  // tokens
constexpr std::uint32_t kMostPerCell = 100'000;
constexpr std::size_t kTriedLast = 16;  // pieces tried as the last one, to come near the length

void refuse(const char* field, const std::string& expected, const std::string& found) {
  throw_usage_error({field_name(field), expected, found});
}

void check_numbers(const char* field, const std::vector<std::uint32_t>& numbers, std::uint32_t least,
                   std::uint32_t most) {
  if (numbers.empty()) refuse(field, "at least one number", "none");
  std::set<std::uint32_t> seen;
  for (const auto number : numbers) {
    if (number < least || number > most)
      refuse(field, fmt::format("numbers from {} to {}", least, most), std::to_string(number));
    if (!seen.insert(number).second) refuse(field, "different numbers", fmt::format("{} twice", number));
  }
}

// A haystack of one question, as text: which pieces stand where.
class Stack {
 public:
  Stack(Hay& hay, std::uint32_t depth) : hay_(hay), depth_(depth) {}

  // The prompt with the first `pieces` of filler and, unless it is empty, `last`.
  std::string text(std::size_t pieces, const std::string& last) { return build(pieces, last, nullptr); }

  // The same as an item: needles are gold passages, and what lies between them others.
  questions::Item item(std::size_t pieces, const std::string& last) {
    questions::Item out = hay_.item;
    out.prompt = build(pieces, last, &out.passages);
    return out;
  }

 private:
  std::string build(std::size_t pieces, const std::string& last, std::vector<questions::Passage>* passages) {
    std::vector<const std::string*> filler;
    for (std::size_t i = 0; i < pieces; ++i) filler.push_back(&hay_.filler(i));
    if (!last.empty()) filler.push_back(&last);
    const auto places = places_in(filler);

    std::string out = hay_.head();
    std::size_t number = 0, begin = 0;
    bool open = false;  // filler since `begin`
    const auto close = [&] {
      if (open && passages != nullptr) passages->push_back({.text = out.substr(begin)});
      open = false;
    };
    for (std::size_t i = 0; i <= filler.size(); ++i) {
      for (std::size_t n = 0; n < hay_.needles.size(); ++n) {
        if (places[n] != i) continue;
        close();
        out += hay_.lead(number++) + hay_.needles[n].text;
        if (passages != nullptr) passages->push_back(hay_.needles[n]);
      }
      if (i == filler.size()) break;
      out += hay_.lead(number++);
      if (!open) begin = out.size();
      open = true;
      out += *filler[i];
    }
    close();
    return out + hay_.tail();
  }

  // Before which piece each needle stands: where the share of the filler's bytes before it is nearest to its
  // depth. The first needle stands at the depth asked for, the others evenly behind it, from the front again
  // beyond the end.
  std::vector<std::size_t> places_in(const std::vector<const std::string*>& filler) const {
    std::vector<std::size_t> before = {0};
    for (const auto* piece : filler) before.push_back(before.back() + piece->size());
    const auto all = static_cast<double>(before.back());
    std::vector<std::size_t> places;
    const auto many = static_cast<double>(hay_.needles.size());
    for (std::size_t n = 0; n < hay_.needles.size(); ++n) {
      double depth = depth_ + kDeepest * static_cast<double>(n) / many;
      if (depth > kDeepest) depth -= kDeepest;
      const double wanted = all * depth / kDeepest;
      const auto nearest = std::min_element(before.begin(), before.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(static_cast<double>(a) - wanted) < std::abs(static_cast<double>(b) - wanted);
      });
      places.push_back(static_cast<std::size_t>(nearest - before.begin()));
    }
    return places;
  }

  Hay& hay_;
  std::uint32_t depth_;
};

// Ends of words in a text.
std::vector<std::size_t> word_ends(const std::string& text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1))
    ends.push_back(at);
  return ends;
}

// The longest haystack of at most `length` tokens.
class Filling {
 public:
  Filling(Hay& hay, const CountPromptTokens& count, std::uint32_t length, std::uint32_t depth)
      : hay_(hay), stack_(hay, depth), count_(count), length_(length) {}

  Haystack fill() {
    const std::size_t bare = tokens(0, "");
    if (bare > length_)
      refuse("lengths", fmt::format("at least the {} tokens of needles and question alone", bare),
             std::to_string(length_));
    const std::size_t pieces = most_that_fit([&](std::size_t n) { return tokens(n, "") <= length_; });
    const std::string last = hay_.cuts_words() ? cut_piece(pieces) : best_piece(pieces);
    return {stack_.item(pieces, last), tokens(pieces, last)};
  }

 private:
  std::size_t tokens(std::size_t pieces, const std::string& last) {
    return count_(stack_.text(pieces, last));
  }

  // The largest number that fits; 0 does.
  template <typename Fits>
  static std::size_t most_that_fit(const Fits& fits) {
    std::size_t good = 0, bad = 1;
    while (fits(bad)) good = bad, bad *= 2;
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (fits(middle) ? good : bad) = middle;
    }
    return good;
  }

  std::string cut_piece(std::size_t pieces) {
    const std::string piece = hay_.filler(pieces);
    const auto ends = word_ends(piece);
    const auto of = [&](std::size_t words) { return words == 0 ? "" : piece.substr(0, ends[words - 1]); };
    return of(most_that_fit(
        [&](std::size_t words) { return words <= ends.size() && tokens(pieces, of(words)) <= length_; }));
  }

  std::string best_piece(std::size_t pieces) {
    std::string best;
    std::size_t most = tokens(pieces, "");
    for (std::size_t i = 0; i < kTriedLast; ++i) {
      const std::string& piece = hay_.filler(pieces + i);
      const std::size_t found = tokens(pieces, piece);
      if (found > length_ || found <= most) continue;
      most = found;
      best = piece;
    }
    return best;
  }

  Hay& hay_;
  Stack stack_;
  const CountPromptTokens& count_;
  std::size_t length_;
};

}  // namespace

std::vector<std::string> haystack_kinds() {
  return {"needle", "key-values"};
}

void check_haystack(const HaystackRequest& request) {
  const auto kinds = haystack_kinds();
  if (std::find(kinds.begin(), kinds.end(), request.kind) == kinds.end())
    refuse("kind", fmt::format("one of {}", fmt::join(kinds, ", ")), '"' + request.kind + '"');
  check_numbers("lengths", request.lengths, 1, kLongest);
  check_numbers("depths", request.depths, 0, kDeepest);
  if (request.per_cell < 1 || request.per_cell > kMostPerCell)
    refuse("per_cell", fmt::format("1 to {}", kMostPerCell), std::to_string(request.per_cell));
  const bool pairs = request.kind == "key-values";
  const std::uint32_t most = pairs ? 16 : 2;
  if (request.needles < 1 || request.needles > most)
    refuse("needles", fmt::format("1 to {} with {}", most, request.kind), std::to_string(request.needles));
  if (request.version < 1 || request.version > 2)
    refuse("version", "1 or 2", std::to_string(request.version));
  if (pairs && request.filler) refuse("filler", "it with needle only", "it with key-values");
  if (pairs && request.version != 1) refuse("version", "it with needle only", "it with key-values");
}

std::vector<Haystack> make_haystacks(const HaystackRequest& request, const CountPromptTokens& count) {
  check_haystack(request);
  auto hays = request.kind == "needle" ? make_hays(request) : make_pair_hays(request);
  std::vector<Haystack> out;
  for (std::size_t i = 0; i < hays.size(); ++i) {
    for (const auto length : request.lengths) {
      for (const auto depth : request.depths) {
        out.push_back(Filling(*hays[i], count, length, depth).fill());
        auto& item = out.back().item;
        item.id = fmt::format("{}-{}-{:03}-{:05}", request.kind, length, depth, i);
        item.labels["kind"] = request.kind;
        item.labels["length"] = std::to_string(length);
        item.labels["depth"] = std::to_string(depth);
        item.labels["needles"] = std::to_string(request.needles);
      }
    }
  }
  return out;
}

std::string haystack_line(const Haystack& haystack) {
  Json json = questions::item_json(haystack.item);
  json["tokens"] = haystack.tokens;
  return dump_json(json);
}

}  // namespace buoy::world
