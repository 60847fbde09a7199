#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace buoy {

// Where a folder came from, when it is a snapshot in a Hugging Face cache.
struct HubSnapshot {
  std::string id;      // "GSAI-ML/LLaDA-8B-Instruct"
  std::string commit;  // of the snapshot, as its folder is called
};
// By the folder's place alone: .../models--ORG--NAME/snapshots/COMMIT.
std::optional<HubSnapshot> hub_snapshot_of(const std::filesystem::path& folder);

// What a model is called: its id, or the name of its folder.
std::string model_name(const std::filesystem::path& folder);

// The folder of a model that is named by
//   a folder, which wins over an id of that name;
//   the folder of a model in a Hugging Face cache (models--ORG--NAME), of which "main" is taken;
//   an id, ORG/NAME or ORG/NAME@REVISION, in the local cache; REVISION is a branch, a tag or the beginning of
//   a commit.
// Nothing is downloaded. InputError for a name that leads nowhere: it lists what the cache has.
// docs/models-by-name.md
std::filesystem::path find_model(const std::string& name);

// Whether a text has the form of an id, with or without a revision.
bool is_model_id(const std::string& name);

// The folder that huggingface_hub keeps models in: HF_HUB_CACHE, else HF_HOME/hub, else
// XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub.
std::filesystem::path hub_cache_folder();

// Of a snapshot whose download is not finished: how many files are under way, for messages. "" otherwise.
std::string unfinished_downloads(const std::filesystem::path& folder);

}  // namespace buoy
