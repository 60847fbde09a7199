#include "buoy/text/tokenizer/steps/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/text/code_points.h"

namespace buoy::text {
namespace {

constexpr char32_t kFirstThatComposes = 0x300;  // every single character below is NFC by itself

int combining_class(utf8proc_int32_t value) {
  return utf8proc_get_property(value)->combining_class;
}

// Whether a character may interact with the one before it under NFC: marks, the vowels and final
// consonants of Hangul that compose, and the vowel signs of Kirat Rai (letters that compose, since
// Unicode 16). Too many is harmless, a segment then only gets longer; except U+11A7, which utf8proc 2.8
// loses after a Hangul syllable.
bool continues_segment(char32_t value) {
  if (value < kFirstThatComposes) return false;
  if ((value >= 0x1161 && value <= 0x1175) || (value >= 0x11A8 && value <= 0x11C2)) return true;
  if (value >= 0x16D63 && value <= 0x16D6A) return true;
  const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(value));
  return property->category == UTF8PROC_CATEGORY_MN || property->category == UTF8PROC_CATEGORY_MC ||
         property->category == UTF8PROC_CATEGORY_ME || property->combining_class != 0;
}

// NFC of one segment at a time. utf8proc's own ordering of combining marks takes quadratic time on long
// runs, hence the sort here.
class Composer {
 public:
  const std::string& compose(std::string_view segment) {
    points_.clear();
    for (size_t at = 0; at < segment.size();) {
      const CodePoint point = code_point_at(segment, at);
      append_decomposition(static_cast<utf8proc_int32_t>(point.value));
      at += point.length;
    }
    order_marks();
    const auto count =
        utf8proc_normalize_utf32(points_.data(), static_cast<utf8proc_ssize_t>(points_.size()),
                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    BUOY_CHECK(count >= 0);
    composed_.clear();
    for (utf8proc_ssize_t i = 0; i < count; ++i) append_utf8(composed_, static_cast<char32_t>(points_[i]));
    return composed_;
  }

 private:
  void append_decomposition(utf8proc_int32_t value) {
    std::array<utf8proc_int32_t, 16> parts;
    int boundary_class = 0;
    const auto count = utf8proc_decompose_char(
        value, parts.data(), parts.size(),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), &boundary_class);
    BUOY_CHECK(count > 0 && count <= static_cast<utf8proc_ssize_t>(parts.size()));
    points_.insert(points_.end(), parts.begin(), parts.begin() + count);
  }

  void order_marks() {
    const auto is_starter = [](utf8proc_int32_t value) { return combining_class(value) == 0; };
    for (auto at = points_.begin(); at != points_.end();) {
      if (is_starter(*at)) {
        ++at;
        continue;
      }
      const auto end = std::find_if(at, points_.end(), is_starter);
      if (end - at > 1) {
        std::stable_sort(at, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
      }
      at = end;
    }
  }

  std::vector<utf8proc_int32_t> points_;
  std::string composed_;
};

size_t segment_end(std::string_view text, size_t begin) {
  size_t at = begin + code_point_at(text, begin).length;
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (!continues_segment(point.value)) break;
    at += point.length;
  }
  return at;
}

// Leaves out what both sides share at their ends, but keeps a character on each side.
Alignment::Change trimmed_change(std::string_view original, std::string_view composed, ByteSpan from,
                                 ByteSpan to) {
  for (;;) {
    const size_t length = code_point_at(original, 0).length;
    if (length >= original.size() || length >= composed.size()) break;
    if (original.substr(0, length) != composed.substr(0, length)) break;
    original.remove_prefix(length);
    composed.remove_prefix(length);
    from.begin += static_cast<std::uint32_t>(length);
    to.begin += static_cast<std::uint32_t>(length);
  }
  for (;;) {
    const size_t length = original.size() - previous_code_point(original, original.size());
    if (length >= original.size() || length >= composed.size()) break;
    if (original.substr(original.size() - length) != composed.substr(composed.size() - length)) break;
    original.remove_suffix(length);
    composed.remove_suffix(length);
    from.end -= static_cast<std::uint32_t>(length);
    to.end -= static_cast<std::uint32_t>(length);
  }
  return {to, from};
}

}  // namespace

std::optional<RewrittenText> to_nfc(std::string_view text) {
  RewrittenText result;
  Composer composer;
  size_t copied = 0;  // everything before is in result.text
  for (size_t begin = 0; begin < text.size();) {
    const auto is_ascii = [&](size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; };
    if (is_ascii(begin) && (begin + 1 == text.size() || is_ascii(begin + 1))) {
      ++begin;
      continue;
    }
    const size_t end = segment_end(text, begin);
    const std::string_view segment = text.substr(begin, end - begin);
    const CodePoint first = code_point_at(segment, 0);
    const bool stays = first.value < kFirstThatComposes && first.length == segment.size();
    if (!stays) {
      const std::string& composed = composer.compose(segment);
      if (composed != segment) {
        result.text += text.substr(copied, begin - copied);
        const auto to = static_cast<std::uint32_t>(result.text.size());
        result.text += composed;
        copied = end;
        result.alignment.add(trimmed_change(
            segment, composed, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
            {to, static_cast<std::uint32_t>(result.text.size())}));
      }
    }
    begin = end;
  }
  if (copied == 0) return std::nullopt;
  result.text += text.substr(copied);
  return result;
}

}  // namespace buoy::text
