#include "buoy/world/world_words.h"

#include <set>
#include <sstream>

#include "buoy/world/world_draws.h"

namespace buoy::world {
namespace {

constexpr const char* kOnsets =
    "B Br C Cr D Dr F Fl G Gr H J K Kl L M N P Pr R S St T Tr V W Y Z Sh Th El Al Or Is Ar Em";
constexpr const char* kMiddles =
    "ab ad al am an ar av eb ed el em en er ev ib id il im in ir iv ob od ol om on or ov ub ud ul um un ur";
constexpr const char* kFeminine = "a ia ela ine essa ira enna ette ora isse";
constexpr const char* kMasculine = "o as on ik ert us win ard em os";
constexpr const char* kFamily = "ic man sen ski ley shaw wick more ston dahl kin ander ero etti off";
constexpr const char* kPlaces = "burg port ford mouth stad haven ville field bridge dale minster holm";
constexpr const char* kFounders = "ius eaux enstein ington olini ebrand elius orth";
constexpr const char* kBrands = "ex ion ix atic ova yx onic ax";

constexpr const char* kFields =
    "botany geology astronomy chemistry physics medicine history philosophy linguistics economics law "
    "architecture sculpture painting theology archaeology anthropology sociology psychology geometry algebra "
    "statistics zoology ecology genetics optics acoustics metallurgy agronomy forestry hydrology meteorology "
    "oceanography cartography navigation rhetoric poetry drama dance ceramics weaving engraving photography "
    "journalism education diplomacy logic topology mechanics electronics robotics aeronautics pharmacy "
    "dentistry surgery nursing nutrition veterinary entomology mycology mineralogy seismology volcanology "
    "glaciology";
constexpr const char* kInstruments =
    "violin viola cello piano organ harp lute guitar mandolin banjo ukulele sitar zither dulcimer lyre flute "
    "piccolo oboe clarinet bassoon saxophone trumpet cornet trombone tuba horn bugle recorder ocarina "
    "bagpipes accordion concertina harmonica harpsichord celesta xylophone marimba vibraphone timpani drums "
    "tambourine triangle gong cymbals castanets theremin fiddle panpipes";
constexpr const char* kAdjectives =
    "Silent Golden Broken Hidden Distant Burning Frozen Hollow Crimson Silver Velvet Wandering Endless "
    "Forgotten Gentle Restless Sunken Scarlet Amber Bitter Quiet Secret Shining Sleeping Stolen Tender "
    "Twisted "
    "Unspoken Vanishing Waking Weary Wild Winding Ancient Borrowed Crooked Faithful Fallen Floating Glass "
    "Iron "
    "Lonely Narrow Northern Painted Paper Patient Singing";
constexpr const char* kNouns =
    "Harbor Garden Mirror River Lantern Forest Tower Window Bridge Shadow Island Mountain Letter Orchard "
    "Clock "
    "Candle Meadow Ocean Valley Castle Feather Compass Doorway Desert Anchor Arrow Bell Canyon Cradle Crown "
    "Curtain Dagger Echo Ember Falcon Fountain Gate Ghost Hammer Harvest Heron Kingdom Ladder Market Needle "
    "Oracle Palace Pearl Pilgrim Prairie Raven Road Shore Sparrow Spire Staircase Storm Thread Throne Tide "
    "Voyage Wheel Whisper Winter";

std::vector<std::string> split(const char* words) {
  std::istringstream stream(words);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

// Spells new words: onset, middle, ending, each drawn from its list.
class Speller {
 public:
  std::string next(const char* endings) {
    for (;;) {
      // One after the other: the order in which operands of + are evaluated is the compiler's choice.
      std::string word = pick(kOnsets);
      word += pick(kMiddles);
      word += pick(endings);
      if (word.size() <= 11 && taken_.insert(word).second) return word;
    }
  }

  std::vector<std::string> list(size_t count, const char* endings) {
    std::vector<std::string> words;
    while (words.size() < count) words.push_back(next(endings));
    return words;
  }

 private:
  std::string pick(const char* list) {
    const auto choices = split(list);
    return choices[draws_.below(static_cast<std::uint32_t>(choices.size()))];
  }

  WorldDraws draws_{0, WorldStream::kSpelling, 0};
  std::set<std::string> taken_;
};

}  // namespace

WorldWords make_world_words() {
  Speller speller;
  WorldWords words;
  for (int i = 0; i < 256; ++i) {
    words.first_names.push_back(speller.next(i % 2 == 0 ? kFeminine : kMasculine));
  }
  words.family_names = speller.list(256, kFamily);
  words.cities = speller.list(128, kPlaces);
  words.founders = speller.list(96, kFounders);
  words.brands = speller.list(96, kBrands);
  words.fields = split(kFields);
  words.instruments = split(kInstruments);
  words.adjectives = split(kAdjectives);
  words.nouns = split(kNouns);
  return words;
}

}  // namespace buoy::world
