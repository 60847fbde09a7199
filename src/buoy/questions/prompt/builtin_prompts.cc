#include "buoy/questions/prompt/builtin_prompts.h"

namespace buoy::questions {
namespace {

constexpr std::string_view kSharedPassages =
    R"({{! One prompt for every model. Differs from shared-closed-book by the passages and the sentence on them. }}
Answer the question in as few words as possible. Use the passages where they help; where they do not, answer from what you know.

{{#passages}}
Passage {{number}}{{#title}} ({{title}}){{/title}}:
{{text}}

{{/passages}}
Question: {{question}}
Answer:
)";

constexpr std::string_view kSharedClosedBook =
    R"({{! One prompt for every model, without passages. }}
Answer the question in as few words as possible.

Question: {{question}}
Answer:
)";

// The order of parts, the number of rules and the headings are those of the authors' prompt for LLaDA; the
// wording is Buoy's.
constexpr std::string_view kAuthorsLlada =
    R"({{! Zero-shot rule list, built as the authors' prompt for LLaDA is; own wording. }}
Below are some passages and a question. Draw on the passages if they are helpful, and reply briefly and to the point.

Rules:
- Look into the context before anything else.
- If the context contains the answer, take it from there.
- If it does not, rely on your general knowledge.
- Reply with 1 to 10 words and never more.
- Give no explanation.
- Do not copy out the passages.

Context:
{{#passages}}
Passage {{number}}:
{{text}}

{{/passages}}
{{^passages}}
Passage 1:
No relevant context available.

{{/passages}}
Question: {{question}}

Short Answer:
)";

constexpr std::string_view kAuthorsLladaClosedBook =
    R"({{! The rule list without context and without the rules on it. The authors' own is not released: a guess. }}
Below is a question. Reply briefly and to the point.

Rules:
- Rely on your general knowledge.
- Reply with 1 to 10 words and never more.
- Give no explanation.

Question: {{question}}

Short Answer:
)";

constexpr std::string_view kAuthorsOthers =
    R"({{! Worked examples behind the real context, built as the authors' prompt for Dream, Llama and Qwen is; own wording. }}
You are an assistant that answers questions of fact.

Instructions:
1. Read the context with care.
2. Answer from the context whenever it holds the answer.
3. Fall back on your general knowledge when it does not.
4. Be brief: a name, a date, a number or a short phrase.
5. Leave out explanations and whole sentences.
6. Never reply that no answer was found; always give your best one.

Context:
{{#passages}}
Passage {{number}}:
{{text}}

{{/passages}}
{{^passages}}
Passage 1:
No relevant context available.

{{/passages}}
Examples:

Question: In which city does the Eiffel Tower stand?
Answer: Paris

Question: On which day was Albert Einstein born?
Answer: 14 March 1879

Question: Which city is the capital of Japan?
Answer: Tokyo [from general knowledge]

Question: {{question}}
Answer:
)";

constexpr std::string_view kAuthorsOthersClosedBook =
    R"({{! The same without context and without the instructions on it. The authors' own is not released: a guess. }}
You are an assistant that answers questions of fact.

Instructions:
1. Rely on your general knowledge.
2. Be brief: a name, a date, a number or a short phrase.
3. Leave out explanations and whole sentences.
4. Never reply that no answer was found; always give your best one.

Examples:

Question: In which city does the Eiffel Tower stand?
Answer: Paris

Question: On which day was Albert Einstein born?
Answer: 14 March 1879

Question: Which city is the capital of Japan?
Answer: Tokyo

Question: {{question}}
Answer:
)";

// Regions as published: the query reaches to the first document, a document ends behind its blank line.
constexpr std::string_view kFlow =
    R"({{! The layout of the published region rollout. }}
{{#region query}}
Query: {{question}}

Passages:
{{/region}}
{{#passages}}
[{{number}}] {{text}}

{{/passages}}
Answer:
)";

constexpr std::string_view kFlowClosedBook =
    R"({{! The layout of the published region rollout, without its passages. }}
{{#region query}}
Query: {{question}}

{{/region}}
Answer:
)";

constexpr BuiltinPrompt kPrompts[] = {
    {"shared-passages", "one prompt for all models, with passages", kSharedPassages},
    {"shared-closed-book", "one prompt for all models, without passages", kSharedClosedBook},
    {"authors-llada", "zero-shot rule list, built as the authors' for LLaDA", kAuthorsLlada},
    {"authors-llada-closed-book", "the rule list without context; a guess", kAuthorsLladaClosedBook},
    {"authors-others", "worked examples after the context, built as the authors' for the other models",
     kAuthorsOthers},
    {"authors-others-closed-book", "worked examples without context; a guess", kAuthorsOthersClosedBook},
    {"flow", "the published rollout layout", kFlow},
    {"flow-closed-book", "the published rollout layout without passages", kFlowClosedBook},
};

}  // namespace

std::span<const BuiltinPrompt> builtin_prompts() {
  return kPrompts;
}

}  // namespace buoy::questions
