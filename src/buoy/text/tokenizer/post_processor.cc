#include "buoy/text/tokenizer/post_processor.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::text {
namespace {

class Reader {
 public:
  Reader(std::span<const AddedToken> added_tokens, const Vocabulary& vocabulary)
      : added_tokens_(added_tokens), vocabulary_(vocabulary) {}

  void read(const JsonObject& processor, bool in_sequence) {
    const std::string type = processor.required_text("type");
    if (type == "ByteLevel") return;
    if (type == "TemplateProcessing") return read_template(processor);
    if (type != "Sequence" || in_sequence) {
      processor.fail("type", "\"ByteLevel\", \"TemplateProcessing\" or a \"Sequence\" of them");
    }
    const Json* members = processor.find("processors");
    if (members == nullptr || !members->is_array()) processor.fail("processors", "a list");
    for (size_t i = 0; i < members->size(); ++i) {
      read(JsonObject((*members)[i], fmt::format("{}: processors[{}]", processor.name(), i)), true);
    }
  }

  PostProcessor result;

 private:
  void read_template(const JsonObject& processor) {
    if (has_template_) processor.fail("type", "one TemplateProcessing at most");
    has_template_ = true;
    const Json* single = processor.find("single");
    if (single == nullptr || !single->is_array()) processor.fail("single", "a list");
    bool text_seen = false;
    for (size_t i = 0; i < single->size(); ++i) {
      const JsonObject item((*single)[i], fmt::format("{}: single[{}]", processor.name(), i));
      if (const auto sequence = item.object("Sequence")) {
        if (sequence->required_text("id") != "A" || text_seen) sequence->fail("id", "\"A\", once");
        text_seen = true;
      } else if (const auto special = item.object("SpecialToken")) {
        append_ids(processor, special->required_text("id"), text_seen ? result.suffix : result.prefix);
      } else {
        throw_input_error({item.name(), "\"Sequence\" or \"SpecialToken\"", describe_json((*single)[i])});
      }
    }
    if (!text_seen) processor.fail("single", "a list with the sequence \"A\"");
  }

  void append_ids(const JsonObject& processor, const std::string& token,
                  std::vector<std::int32_t>& ids) const {
    const auto table = processor.object("special_tokens");
    if (!table) processor.fail("special_tokens", "an object");
    const auto entry = table->object(token);
    if (!entry) table->fail(token, "an object");
    const Json* list = entry->find("ids");
    if (list == nullptr || !list->is_array()) entry->fail("ids", "a list");
    for (const Json& item : *list) {
      const std::int32_t id = parse_token_id(item, entry->name() + ": ids");
      const bool known =
          vocabulary_.has(id) || std::any_of(added_tokens_.begin(), added_tokens_.end(),
                                             [&](const AddedToken& added) { return added.id == id; });
      if (!known) entry->fail("ids", fmt::format("ids of tokens, not {}", id));
      ids.push_back(id);
    }
  }

  std::span<const AddedToken> added_tokens_;
  const Vocabulary& vocabulary_;
  bool has_template_ = false;
};

}  // namespace

PostProcessor parse_post_processor(const JsonObject& file, std::span<const AddedToken> added_tokens,
                                   const Vocabulary& vocabulary) {
  Reader reader(added_tokens, vocabulary);
  if (const auto processor = file.object("post_processor")) reader.read(*processor, false);
  return std::move(reader.result);
}

}  // namespace buoy::text
