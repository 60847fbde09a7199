#include "buoy/retrieve/description.h"

#include <fmt/format.h>

#include "buoy/base/sha256.h"

namespace buoy::retrieve {

std::string tokenizer_setting(bool stem) {
  return stem ? "porter unicode61 remove_diacritics 2" : "unicode61 remove_diacritics 2";
}

std::string identity_of(const Description& description) {
  return sha256_hex(fmt::format("buoy index {}\n{}\n{} passages\n{}\n", kIndexVersion, description.tokenizer,
                                description.passages, description.content_sha256));
}

}  // namespace buoy::retrieve
