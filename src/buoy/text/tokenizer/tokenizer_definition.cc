#include "buoy/text/tokenizer/tokenizer_definition.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_set>

#include "buoy/base/error.h"

namespace buoy::text {

Vocabulary parse_vocabulary(const Json& json, std::span<const AddedToken> added_tokens,
                            const std::string& where, Alphabet alphabet) {
  if (!json.is_object() || json.empty()) {
    throw_input_error({where, "an object from tokens to ids", describe_json(json)});
  }
  const std::int64_t most_ids = static_cast<std::int64_t>(json.size() + added_tokens.size());
  std::vector<std::string> spellings;
  for (const auto& [spelling, value] : json.items()) {
    if (spelling.empty()) throw_input_error({where, "tokens that are not empty", "an empty one"});
    const std::int32_t id = parse_token_id(value, fmt::format("{}: \"{}\"", where, spelling));
    if (id >= most_ids) {
      throw_input_error({where, fmt::format("ids without gaps, so below {}", most_ids),
                         fmt::format("id {} of \"{}\"", id, spelling)});
    }
    if (static_cast<size_t>(id) >= spellings.size()) spellings.resize(id + 1);
    if (!spellings[id].empty()) {
      throw_input_error(
          {where, "each id once", fmt::format("id {} of \"{}\" and \"{}\"", id, spellings[id], spelling)});
    }
    spellings[id] = spelling;
  }
  std::unordered_set<std::int32_t> added_ids;
  for (const AddedToken& token : added_tokens) added_ids.insert(token.id);
  for (size_t id = 0; id < spellings.size(); ++id) {
    if (spellings[id].empty() && !added_ids.contains(static_cast<std::int32_t>(id))) {
      throw_input_error({where, "ids without gaps", fmt::format("no token with id {}", id)});
    }
  }
  return Vocabulary(spellings, where, alphabet);
}

}  // namespace buoy::text
