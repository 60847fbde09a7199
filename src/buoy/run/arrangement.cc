#include "buoy/run/arrangement.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/questions/data/evidence.h"
#include "buoy/questions/data/split_evidence.h"
#include "buoy/questions/passages.h"

namespace buoy::run {
namespace {

void mark_gold_by_answer(questions::Item& item) {
  if (!questions::gold_positions(item).empty()) return;
  for (auto& passage : item.passages)
    passage.gold = passage.has_answer.value_or(!questions::find_evidence(passage.text, item.answers).empty());
}

}  // namespace

bool Arrangement::leaves_passages_alone() const {
  return !closed_book && passages < 0 && !noise && !needs_gold();
}

void check_arrangement(const Arrangement& a) {
  if (a.gold_position == 0 || a.noise) return;  // with noise the items say how many passages there are
  const std::int64_t places = a.closed_book ? 0 : a.passages;
  if (places >= 0 && a.gold_position > places)
    throw_usage_error(
        {"place of the gold passage (gold-position)",
         places == 0 ? "passages to place it among" : fmt::format("1 to {}, the number of passages", places),
         fmt::format("{}{}", a.gold_position, places == 0 ? " in a closed book" : "")});
}

questions::Item arrange(const questions::Item& original, const Arrangement& a, const NoiseDraw& draw) {
  questions::Item item = original;
  if (a.closed_book) {
    item.passages.clear();
    return item;
  }
  if (a.gold_by_answer) mark_gold_by_answer(item);
  if (a.noise) {
    BUOY_CHECK(draw.pool != nullptr);
    item = with_noise(item, draw.number, *draw.pool, {a.noise_kind, *a.noise, draw.seed});
  } else if (a.passages >= 0 && !a.needs_gold()) {
    questions::keep_first(item, static_cast<std::size_t>(a.passages));
  } else if (a.passages > 0) {
    questions::keep_with_gold(item, static_cast<std::size_t>(a.passages));
  }
  if (a.gold_position > 0) questions::place_gold(item, static_cast<std::size_t>(a.gold_position));
  if (a.evidence_parts > 1) questions::split_evidence(item, static_cast<std::size_t>(a.evidence_parts));
  return item;
}

}  // namespace buoy::run
