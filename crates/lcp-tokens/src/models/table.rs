//! The built-in models, with the source of the figures of each group.
//!
//! `litellm` is the file `model_prices_and_context_window.json` in the Python package of that name,
//! in its versions 1.109.1 (November 2026, models in service), 1.75.8 (August 2025) and 1.61.0
//! (February 2025, models that have been retired since). If it has only an input limit, the window
//! is the sum of that limit and the output limit if the vendor counts so (GPT-5), else the input
//! limit. If sources differ, the smaller figure is used, so that a text fits everywhere, unless the
//! group names a source. An output limit that equals the window is omitted.

use super::Model;

type Encoding = Option<&'static str>;
const O200K: Encoding = Some("o200k_base");
const HARMONY: Encoding = Some("o200k_harmony");
const CL100K: Encoding = Some("cl100k_base");
const P50K: Encoding = Some("p50k_base");
const R50K: Encoding = Some("r50k_base");
const CLAUDE: Encoding = Some("claude");
const CLAUDE_4_7: Encoding = Some("claude-4.7");
/// The tokenizer is not public or not built in, so a file must be given.
const FILE: Encoding = None;
/// There is no known output limit other than the window.
const OPEN: u32 = 0;

/// A row: the name, the encoding, the window, the output limit, and prefixes other than the name.
type Row = (&'static str, Encoding, u32, u32, &'static [&'static str]);

/// Returns every row as a model, families last.
pub(super) fn models() -> impl Iterator<Item = Model> {
    let known = [OPENAI, OPENAI_OLD, ANTHROPIC, GOOGLE, META, MISTRAL, DEEPSEEK, QWEN];
    let known = known.into_iter().flatten().map(|row| model(row, false));
    known.chain(FAMILIES.iter().map(|row| model(row, true)))
}

fn model(&(name, encoding, window, output, prefixes): &Row, assumed: bool) -> Model {
    // The name of a family is only used in reports.
    let own = (!assumed).then_some(&name);
    Model {
        name: name.to_owned(),
        encoding: encoding.map(str::to_owned),
        window,
        output_max: (output != OPEN).then_some(output),
        aliases: Vec::new(),
        prefixes: own.into_iter().chain(prefixes).map(|&prefix| prefix.to_owned()).collect(),
        is_family_default: assumed,
    }
}

// Encodings: tiktoken 0.14.0, `tiktoken/model.py` (November 2026), which assigns o200k_base to
// every name that begins with gpt-5 and has no entry for GPT-6. Limits: litellm 1.109.1; GPT-5
// 400,000 and GPT-5.4 1,050,000 in total, as in the model pages of Vercel and Oxen (2026); GPT-6 as
// in the page of Google Cloud on GPT-6.1 Sol (November 2026: 1,050,000 in total, 922,000 of them
// input); gpt-oss as in the pages of Vercel.
const OPENAI: &[Row] = &[
    ("gpt-6.1-sol", FILE, 1_050_000, 128_000, &[]),
    ("gpt-6.1-terra", FILE, 1_050_000, 128_000, &[]),
    ("gpt-6-sol", FILE, 1_050_000, 128_000, &[]),
    ("gpt-6-luna", FILE, 1_050_000, 128_000, &[]),
    ("gpt-6-astra", FILE, 1_050_000, 128_000, &[]),
    ("gpt-5.6", O200K, 1_050_000, 128_000, &[]),
    ("gpt-5.5", O200K, 1_050_000, 128_000, &[]),
    ("gpt-5.5-pro", O200K, 1_050_000, 128_000, &[]),
    ("gpt-5.4", O200K, 1_050_000, 128_000, &[]),
    ("gpt-5.4-pro", O200K, 1_050_000, 128_000, &[]),
    ("gpt-5.4-mini", O200K, 400_000, 128_000, &[]),
    ("gpt-5.4-nano", O200K, 400_000, 128_000, &[]),
    ("gpt-5.3-codex", O200K, 400_000, 128_000, &[]),
    ("gpt-5.3-chat", O200K, 128_000, 16_384, &[]),
    ("gpt-5.2", O200K, 400_000, 128_000, &[]),
    ("gpt-5.2-pro", O200K, 400_000, 128_000, &[]),
    ("gpt-5.2-codex", O200K, 400_000, 128_000, &[]),
    ("gpt-5.2-chat", O200K, 128_000, 16_384, &[]),
    ("gpt-5.1", O200K, 400_000, 128_000, &[]),
    ("gpt-5.1-codex", O200K, 400_000, 128_000, &[]),
    ("gpt-5.1-codex-max", O200K, 400_000, 128_000, &[]),
    ("gpt-5.1-codex-mini", O200K, 400_000, 128_000, &[]),
    ("gpt-5.1-chat", O200K, 128_000, 16_384, &[]),
    ("gpt-5", O200K, 400_000, 128_000, &[]),
    ("gpt-5-mini", O200K, 400_000, 128_000, &[]),
    ("gpt-5-nano", O200K, 400_000, 128_000, &[]),
    ("gpt-5-pro", O200K, 400_000, 272_000, &[]),
    ("gpt-5-codex", O200K, 400_000, 128_000, &[]),
    ("gpt-5-chat", O200K, 128_000, 16_384, &[]),
    ("o4-mini", O200K, 200_000, 100_000, &[]),
    ("o3", O200K, 200_000, 100_000, &[]),
    ("o3-pro", O200K, 200_000, 100_000, &[]),
    ("o3-mini", O200K, 200_000, 100_000, &[]),
    ("o1", O200K, 200_000, 100_000, &[]),
    ("o1-pro", O200K, 200_000, 100_000, &[]),
    ("gpt-4.1", O200K, 1_047_576, 32_768, &[]),
    ("gpt-4.1-mini", O200K, 1_047_576, 32_768, &[]),
    ("gpt-4.1-nano", O200K, 1_047_576, 32_768, &[]),
    ("gpt-4o", O200K, 128_000, 16_384, &[]),
    ("gpt-4o-2024-05-13", O200K, 128_000, 4_096, &[]),
    ("gpt-4o-mini", O200K, 128_000, 16_384, &[]),
    ("gpt-oss", HARMONY, 131_072, OPEN, &["gpt-oss:latest"]),
    ("gpt-oss-120b", HARMONY, 131_072, OPEN, &["gpt-oss:120b", "gpt-oss-120b-1:0"]),
    ("gpt-oss-20b", HARMONY, 131_072, OPEN, &["gpt-oss:20b", "gpt-oss-20b-1:0"]),
    (
        "gpt-4-turbo",
        CL100K,
        128_000,
        4_096,
        &[
            "gpt-4-1106-preview", "gpt-4-0125-preview", "gpt-4-vision-preview",
            "gpt-4-1106-vision-preview",
        ],
    ),
    ("gpt-4", CL100K, 8_192, 4_096, &[]),
    ("gpt-3.5-turbo", CL100K, 16_385, 4_096, &["gpt-3.5", "gpt-35-turbo"]),
    ("gpt-3.5-turbo-16k", CL100K, 16_385, 4_096, &["gpt-35-turbo-16k"]),
    ("davinci-002", CL100K, 16_384, 4_096, &[]),
    ("babbage-002", CL100K, 16_384, 4_096, &[]),
    ("text-embedding-3-large", CL100K, 8_191, OPEN, &[]),
    ("text-embedding-3-small", CL100K, 8_191, OPEN, &[]),
    ("text-embedding-ada-002", CL100K, 8_191, OPEN, &[]),
];

// Encodings as above. Limits: litellm 1.75.8 (gpt-4.5) and 1.61.0 (o1-mini, o1-preview, chatgpt-4o,
// gpt-4-32k); the model list of OpenAI as copied in November 2023 (the first versions of
// gpt-3.5-turbo, gpt-3.5-turbo-instruct, code-davinci); the GPT-3 models as in the help page of
// OpenAI on davinci and text-davinci-002 and in a list of 2023. GPT-2: 1,024 positions, from
// `config.json` of openai-community/gpt2 on Hugging Face.
const OPENAI_OLD: &[Row] = &[
    ("gpt-4.5-preview", O200K, 128_000, 16_384, &["gpt-4.5"]),
    ("chatgpt-4o-latest", O200K, 128_000, 4_096, &["chatgpt-4o"]),
    ("o1-mini", O200K, 128_000, 65_536, &[]),
    ("o1-preview", O200K, 128_000, 32_768, &[]),
    ("gpt-4-32k", CL100K, 32_768, 4_096, &[]),
    ("gpt-3.5-turbo-0613", CL100K, 4_096, OPEN, &["gpt-35-turbo-0613"]),
    ("gpt-3.5-turbo-0301", CL100K, 4_096, OPEN, &["gpt-35-turbo-0301"]),
    ("gpt-3.5-turbo-instruct", CL100K, 4_096, OPEN, &["gpt-35-turbo-instruct"]),
    ("text-davinci-003", P50K, 4_096, OPEN, &[]),
    ("text-davinci-002", P50K, 4_096, OPEN, &[]),
    ("code-davinci-002", P50K, 8_001, OPEN, &[]),
    ("text-curie-001", R50K, 2_049, OPEN, &[]),
    ("text-babbage-001", R50K, 2_049, OPEN, &[]),
    ("text-ada-001", R50K, 2_049, OPEN, &[]),
    ("davinci", R50K, 2_049, OPEN, &[]),
    ("curie", R50K, 2_049, OPEN, &[]),
    ("babbage", R50K, 2_049, OPEN, &[]),
    ("ada", R50K, 2_049, OPEN, &[]),
    ("gpt2", R50K, 1_024, OPEN, &["gpt-2"]),
];

// Limits: platform.claude.com, a page for each model since Opus 4.5 (November 2026); for older
// models litellm 1.75.8 (3.7, 4, 4.1) and 1.61.0 (2 to 3.5). Windows of 1M that an older model has
// in a beta are omitted. The models with the newer tokenizer: platform.claude.com, "Token counting"
// (2026) and the page of Haiku 5.5. The factors are those of `ScaledEstimator`.
const ANTHROPIC: &[Row] = &[
    ("claude-fable-5.1", CLAUDE_4_7, 1_000_000, 128_000, &["claude-fable-5-1"]),
    ("claude-fable-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    ("claude-mythos-5.1", CLAUDE_4_7, 1_000_000, 128_000, &["claude-mythos-5-1"]),
    ("claude-mythos-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    ("claude-mythos-preview", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    ("claude-opus-5.5", CLAUDE_4_7, 1_000_000, 128_000, &["claude-opus-5-5"]),
    ("claude-opus-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    ("claude-opus-4.8", CLAUDE_4_7, 1_000_000, 128_000, &["claude-opus-4-8"]),
    ("claude-opus-4.7", CLAUDE_4_7, 1_000_000, 128_000, &["claude-opus-4-7"]),
    ("claude-sonnet-5.5", CLAUDE_4_7, 1_000_000, 128_000, &["claude-sonnet-5-5"]),
    ("claude-sonnet-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    ("claude-haiku-5.5", CLAUDE_4_7, 1_000_000, 128_000, &["claude-haiku-5-5"]),
    ("claude-opus-4.6", CLAUDE, 1_000_000, 128_000, &["claude-opus-4-6", "claude-4.6-opus"]),
    ("claude-sonnet-4.6", CLAUDE, 1_000_000, 128_000, &["claude-sonnet-4-6", "claude-4.6-sonnet"]),
    ("claude-opus-4.5", CLAUDE, 200_000, 64_000, &["claude-opus-4-5", "claude-4.5-opus"]),
    ("claude-sonnet-4.5", CLAUDE, 200_000, 64_000, &["claude-sonnet-4-5", "claude-4.5-sonnet"]),
    ("claude-haiku-4.5", CLAUDE, 200_000, 64_000, &["claude-haiku-4-5", "claude-4.5-haiku"]),
    ("claude-opus-4.1", CLAUDE, 200_000, 32_000, &["claude-opus-4-1", "claude-4.1-opus"]),
    ("claude-opus-4", CLAUDE, 200_000, 32_000, &["claude-opus-4-0", "claude-4-opus"]),
    ("claude-sonnet-4", CLAUDE, 200_000, 64_000, &["claude-sonnet-4-0", "claude-4-sonnet"]),
    ("claude-3.7-sonnet", CLAUDE, 200_000, 128_000, &["claude-3-7-sonnet", "claude-sonnet-3.7"]),
    ("claude-3.5-sonnet", CLAUDE, 200_000, 8_192, &["claude-3-5-sonnet", "claude-sonnet-3.5"]),
    ("claude-3.5-haiku", CLAUDE, 200_000, 8_192, &["claude-3-5-haiku", "claude-haiku-3.5"]),
    ("claude-3-opus", CLAUDE, 200_000, 4_096, &["claude-opus-3"]),
    ("claude-3-sonnet", CLAUDE, 200_000, 4_096, &["claude-sonnet-3"]),
    ("claude-3-haiku", CLAUDE, 200_000, 4_096, &["claude-haiku-3"]),
    ("claude-2.1", CLAUDE, 200_000, 8_191, &["claude-v2:1"]),
    ("claude-2", CLAUDE, 100_000, 8_191, &["claude-2.0", "claude-v2"]),
    ("claude-instant", CLAUDE, 100_000, 8_191, &["claude-instant-1", "claude-instant-1.2"]),
];

// Limits: ai.google.dev, the pages of gemini-3-pro-preview (November 2025) and
// gemini-3.1-pro-preview (2026), and the page of Google Cloud on Gemini 4 (2026: a window shared by
// input and output, 65,536 of output by default); litellm 1.109.1 for the other models in service
// (including Gemma), 1.75.8 and 1.61.0 for retired models.
const GOOGLE: &[Row] = &[
    ("gemini-4-argon", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.8-flash", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.7-flash", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.6-flash", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.5-flash", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.5-flash-lite", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.1-pro", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3.1-flash-lite", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3-pro", FILE, 1_048_576, 65_536, &[]),
    ("gemini-3-flash", FILE, 1_048_576, 65_536, &[]),
    ("gemini-pro-latest", FILE, 1_048_576, 65_536, &[]),
    ("gemini-flash-latest", FILE, 1_048_576, 65_536, &[]),
    ("gemini-flash-lite-latest", FILE, 1_048_576, 65_536, &[]),
    ("gemini-2.5-pro", FILE, 1_048_576, 65_536, &[]),
    ("gemini-2.5-flash", FILE, 1_048_576, 65_536, &[]),
    ("gemini-2.5-flash-lite", FILE, 1_048_576, 65_536, &[]),
    ("gemini-2.5-computer-use", FILE, 128_000, 64_000, &[]),
    ("gemini-2.0-pro", FILE, 2_097_152, 8_192, &[]),
    ("gemini-2.0-flash", FILE, 1_048_576, 8_192, &[]),
    ("gemini-2.0-flash-lite", FILE, 1_048_576, 8_192, &[]),
    ("gemini-1.5-pro", FILE, 2_097_152, 8_192, &[]),
    ("gemini-1.5-flash", FILE, 1_048_576, 8_192, &[]),
    ("gemini-1.5-flash-8b", FILE, 1_048_576, 8_192, &[]),
    ("gemini-pro", FILE, 32_760, 8_192, &["gemini-1.0-pro"]),
    ("gemma-4-31b", FILE, 262_144, 32_768, &["gemma4:31b"]),
    ("gemma-4-26b", FILE, 262_144, 32_768, &["gemma4:26b"]),
    ("gemma-3-27b", FILE, 131_072, 8_192, &["gemma3:27b"]),
    ("gemma-2-27b", FILE, 8_192, OPEN, &["gemma2:27b"]),
    ("gemma-2-9b", FILE, 8_192, OPEN, &["gemma2:9b"]),
];

// Limits: litellm 1.109.1, with the service of Meta (3.3, 4), the model cards of AWS (3, 3.1, 3.2),
// and Fireworks and Ollama (2).
const META: &[Row] = &[
    ("llama-4-maverick", FILE, 1_000_000, OPEN, &["llama4-maverick", "llama4:maverick"]),
    ("llama-4-scout", FILE, 10_000_000, OPEN, &["llama4-scout", "llama4:scout"]),
    ("llama-3.3", FILE, 128_000, OPEN, &["llama3.3", "llama3-3", "llama-3-3", "llama-v3p3"]),
    ("llama-3.2", FILE, 128_000, OPEN, &["llama3.2", "llama3-2", "llama-3-2", "llama-v3p2"]),
    (
        "llama-3.1",
        FILE,
        128_000,
        OPEN,
        &["llama3.1", "llama3-1", "llama-3-1", "llama-v3p1", "meta-llama-3.1"],
    ),
    ("llama-3", FILE, 8_192, OPEN, &["llama3", "llama-v3", "meta-llama-3"]),
    ("llama-2", FILE, 4_096, OPEN, &["llama2", "llama-v2", "llama-2-chat"]),
];

// Limits: litellm 1.109.1 for models in service, with AWS, DeepInfra and Fireworks for the open
// weights (Mixtral 8x22B has the figure of Fireworks); 1.75.8 and 1.61.0 for retired models.
const MISTRAL: &[Row] = &[
    ("mistral-large-4", FILE, 1_048_576, OPEN, &["mistral-large-4-0"]),
    ("mistral-large-3", FILE, 262_144, OPEN, &["mistral-large-2512", "mistral-large-latest"]),
    ("mistral-large-2411", FILE, 128_000, OPEN, &[]),
    ("mistral-large-2407", FILE, 128_000, OPEN, &[]),
    ("mistral-large-2402", FILE, 32_000, 8_191, &[]),
    (
        "mistral-medium-3.5",
        FILE,
        262_144,
        OPEN,
        &["mistral-medium-3-5", "mistral-medium-2604", "mistral-medium-latest"],
    ),
    ("mistral-medium-2505", FILE, 131_072, 8_191, &[]),
    ("mistral-small-2603", FILE, 262_144, OPEN, &["mistral-small-latest"]),
    ("mistral-small-3.2", FILE, 128_000, OPEN, &["mistral-small-2506"]),
    ("mistral-small-24b-instruct-2501", FILE, 32_768, OPEN, &["mistral-small-2501"]),
    ("ministral-3-14b", FILE, 262_144, OPEN, &["ministral-14b"]),
    ("ministral-3-8b", FILE, 262_144, OPEN, &["ministral-8b-2512", "ministral-8b-latest"]),
    ("ministral-3-3b", FILE, 131_072, OPEN, &["ministral-3b-2512", "ministral-3b-latest"]),
    ("codestral-2508", FILE, 128_000, OPEN, &["codestral-latest"]),
    ("codestral-2405", FILE, 32_000, 8_191, &[]),
    ("devstral-2", FILE, 256_000, OPEN, &["devstral-latest"]),
    ("mistral-nemo", FILE, 128_000, OPEN, &["open-mistral-nemo"]),
    ("mixtral-8x22b", FILE, 65_536, OPEN, &["open-mixtral-8x22b", "mixtral:8x22b"]),
    ("mixtral-8x7b", FILE, 32_000, OPEN, &["open-mixtral-8x7b", "mixtral:8x7b"]),
    ("mistral-7b", FILE, 32_000, OPEN, &["open-mistral-7b", "mistral:7b"]),
];

// Limits: litellm 1.109.1; V3 and R1 as in the service of DeepSeek, V3.1 as in Fireworks.
const DEEPSEEK: &[Row] = &[
    ("deepseek-v4-pro", FILE, 1_000_000, 393_216, &[]),
    ("deepseek-v4-flash", FILE, 1_000_000, 393_216, &["deepseek-flash"]),
    ("deepseek-v3.2", FILE, 163_840, OPEN, &["deepseek-v3p2"]),
    ("deepseek-v3.1", FILE, 128_000, 8_192, &["deepseek-v3p1"]),
    ("deepseek-v3", FILE, 65_536, 8_192, &[]),
    ("deepseek-r1", FILE, 65_536, 8_192, &["r1"]),
    ("deepseek-chat", FILE, 131_072, 8_192, &[]),
    ("deepseek-reasoner", FILE, 131_072, 65_536, &[]),
];

// Limits: litellm 1.109.1, with the service of Alibaba, whose figures are input limits, for names
// without a size, and Together, DeepInfra and AWS for the open weights. Qwen 2.5 and the first Qwen
// 3 have 32,768 tokens without YaRN (the model card of Qwen 2.5, AWS for Qwen 3 32B). Qwen3-Coder
// as in its model card (2025).
const QWEN: &[Row] = &[
    ("qwen3.8-max", FILE, 991_808, 131_072, &[]),
    ("qwen3.8-flash", FILE, 991_808, 131_072, &[]),
    ("qwen3.7-max", FILE, 991_808, 65_536, &[]),
    ("qwen3.7-plus", FILE, 991_808, 65_536, &[]),
    ("qwen3.5-plus", FILE, 991_808, 65_536, &[]),
    ("qwen3.6", FILE, 262_144, OPEN, &["qwen-3.6"]),
    ("qwen3.5", FILE, 262_144, OPEN, &["qwen-3.5"]),
    ("qwen3-max", FILE, 256_000, 65_536, &[]),
    ("qwen3-coder", FILE, 262_144, OPEN, &[]),
    ("qwen3-coder-plus", FILE, 997_952, 65_536, &[]),
    ("qwen3-coder-flash", FILE, 997_952, 65_536, &[]),
    ("qwen3-next", FILE, 262_144, OPEN, &[]),
    ("qwen3-235b-a22b-instruct-2507", FILE, 262_144, OPEN, &["qwen3-235b-a22b-thinking-2507"]),
    ("qwen3", FILE, 32_768, OPEN, &["qwen-3"]),
    ("qwen2.5", FILE, 32_768, OPEN, &["qwen-2.5"]),
    ("qwen2", FILE, 32_768, OPEN, &["qwen-2"]),
    ("qwq-32b", FILE, 131_072, OPEN, &["qwq:32b"]),
    ("qwen-max", FILE, 30_720, 8_192, &[]),
    ("qwen-plus", FILE, 129_024, 16_384, &[]),
    ("qwen-turbo", FILE, 129_024, 16_384, &[]),
    ("qwen-flash", FILE, 997_952, 32_768, &[]),
];

// Conservative values that are valid for each text model of the family, not published figures.
const FAMILIES: &[Row] = &[
    ("gpt-5.*", O200K, 128_000, OPEN, &["gpt-5.", "gpt-5-"]),
    ("claude-*", CLAUDE_4_7, 200_000, OPEN, &["claude-"]),
    ("gemini-*", FILE, 128_000, OPEN, &["gemini-"]),
];
