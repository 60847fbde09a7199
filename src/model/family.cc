#include "model/family.h"

#include "base/error.h"

namespace buoy::model {

FamilyTraits traits_of(Family family) {
  switch (family) {
    case Family::kLlada:
      return llada_traits();
    case Family::kDream:
      return dream_traits();
    case Family::kLlama:
      return llama_traits();
    case Family::kQwen2:
      return qwen2_traits();
    case Family::kQwen3:
      return qwen3_traits();
  }
  throw InternalError("a family without traits");
}

}  // namespace buoy::model
