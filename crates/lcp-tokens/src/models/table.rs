//! The models that are built in, each group with where its figures are from.
//!
//! `litellm` is the file `model_prices_and_context_window.json` that the Python
//! package of that name carries, in its versions 1.109.1 (November 2026, models
//! in service), 1.75.8 (August 2025) and 1.61.0 (February 2025, models that are
//! gone since). Where it has an input limit only, the window is that limit plus
//! the output limit if the vendor counts so (GPT-5), else the limit. Where
//! sources differ the smaller figure stands, so that what is made for it fits
//! everywhere, unless the group says whose it is. An output limit that only
//! repeats the window is left out.

use super::Model;

type Encoding = Option<&'static str>;
const O200K: Encoding = Some("o200k_base");
const HARMONY: Encoding = Some("o200k_harmony");
const CL100K: Encoding = Some("cl100k_base");
const P50K: Encoding = Some("p50k_base");
const R50K: Encoding = Some("r50k_base");
const CLAUDE: Encoding = Some("claude");
const CLAUDE_4_7: Encoding = Some("claude-4.7");
/// The tokenizer is not public, or not built in: a file must be given.
const FILE: Encoding = None;
/// No output limit is known apart from the window.
const OPEN: u32 = 0;

struct Row {
    name: &'static str,
    encoding: Encoding,
    window: u32,
    output: u32,
    /// Prefixes besides the name, which is one too.
    also: &'static [&'static str],
}

const fn row(
    name: &'static str,
    encoding: Encoding,
    window: u32,
    output: u32,
    also: &'static [&'static str],
) -> Row {
    Row { name, encoding, window, output, also }
}

/// Every row as a model; families last.
pub(super) fn models() -> impl Iterator<Item = Model> {
    let known = [OPENAI, OPENAI_OLD, ANTHROPIC, GOOGLE, META, MISTRAL, DEEPSEEK, QWEN];
    let known = known.into_iter().flatten().map(|row| model(row, false));
    known.chain(FAMILIES.iter().map(|row| model(row, true)))
}

fn model(row: &Row, assumed: bool) -> Model {
    // The name of a family is only for reports.
    let name = (!assumed).then_some(&row.name);
    Model {
        name: row.name.to_owned(),
        encoding: row.encoding.map(str::to_owned),
        window: row.window,
        output_max: (row.output != OPEN).then_some(row.output),
        aliases: Vec::new(),
        prefixes: name.into_iter().chain(row.also).map(|&prefix| prefix.to_owned()).collect(),
        assumed,
    }
}

// Encodings: tiktoken 0.14.0, `tiktoken/model.py` (November 2026), which gives
// o200k_base to every name that begins with gpt-5 and has no entry for GPT-6.
// Limits: litellm 1.109.1; GPT-5 400,000 and GPT-5.4 1,050,000 in all as in
// Vercel's and Oxen's model pages (2026), GPT-6 as in Google Cloud's page on
// GPT-6.1 Sol (November 2026: 1,050,000 in all, 922,000 of them input); gpt-oss
// as in Vercel's pages.
const OPENAI: &[Row] = &[
    row("gpt-6.1-sol", FILE, 1_050_000, 128_000, &[]),
    row("gpt-6.1-terra", FILE, 1_050_000, 128_000, &[]),
    row("gpt-6-sol", FILE, 1_050_000, 128_000, &[]),
    row("gpt-6-luna", FILE, 1_050_000, 128_000, &[]),
    row("gpt-6-astra", FILE, 1_050_000, 128_000, &[]),
    row("gpt-5.6", O200K, 1_050_000, 128_000, &[]),
    row("gpt-5.5", O200K, 1_050_000, 128_000, &[]),
    row("gpt-5.5-pro", O200K, 1_050_000, 128_000, &[]),
    row("gpt-5.4", O200K, 1_050_000, 128_000, &[]),
    row("gpt-5.4-pro", O200K, 1_050_000, 128_000, &[]),
    row("gpt-5.4-mini", O200K, 400_000, 128_000, &[]),
    row("gpt-5.4-nano", O200K, 400_000, 128_000, &[]),
    row("gpt-5.3-codex", O200K, 400_000, 128_000, &[]),
    row("gpt-5.3-chat", O200K, 128_000, 16_384, &[]),
    row("gpt-5.2", O200K, 400_000, 128_000, &[]),
    row("gpt-5.2-pro", O200K, 400_000, 128_000, &[]),
    row("gpt-5.2-codex", O200K, 400_000, 128_000, &[]),
    row("gpt-5.2-chat", O200K, 128_000, 16_384, &[]),
    row("gpt-5.1", O200K, 400_000, 128_000, &[]),
    row("gpt-5.1-codex", O200K, 400_000, 128_000, &[]),
    row("gpt-5.1-codex-max", O200K, 400_000, 128_000, &[]),
    row("gpt-5.1-codex-mini", O200K, 400_000, 128_000, &[]),
    row("gpt-5.1-chat", O200K, 128_000, 16_384, &[]),
    row("gpt-5", O200K, 400_000, 128_000, &[]),
    row("gpt-5-mini", O200K, 400_000, 128_000, &[]),
    row("gpt-5-nano", O200K, 400_000, 128_000, &[]),
    row("gpt-5-pro", O200K, 400_000, 272_000, &[]),
    row("gpt-5-codex", O200K, 400_000, 128_000, &[]),
    row("gpt-5-chat", O200K, 128_000, 16_384, &[]),
    row("o4-mini", O200K, 200_000, 100_000, &[]),
    row("o3", O200K, 200_000, 100_000, &[]),
    row("o3-pro", O200K, 200_000, 100_000, &[]),
    row("o3-mini", O200K, 200_000, 100_000, &[]),
    row("o1", O200K, 200_000, 100_000, &[]),
    row("o1-pro", O200K, 200_000, 100_000, &[]),
    row("gpt-4.1", O200K, 1_047_576, 32_768, &[]),
    row("gpt-4.1-mini", O200K, 1_047_576, 32_768, &[]),
    row("gpt-4.1-nano", O200K, 1_047_576, 32_768, &[]),
    row("gpt-4o", O200K, 128_000, 16_384, &[]),
    row("gpt-4o-2024-05-13", O200K, 128_000, 4_096, &[]),
    row("gpt-4o-mini", O200K, 128_000, 16_384, &[]),
    row("gpt-oss", HARMONY, 131_072, OPEN, &["gpt-oss:latest"]),
    row("gpt-oss-120b", HARMONY, 131_072, OPEN, &["gpt-oss:120b", "gpt-oss-120b-1:0"]),
    row("gpt-oss-20b", HARMONY, 131_072, OPEN, &["gpt-oss:20b", "gpt-oss-20b-1:0"]),
    row(
        "gpt-4-turbo",
        CL100K,
        128_000,
        4_096,
        &[
            "gpt-4-1106-preview", "gpt-4-0125-preview", "gpt-4-vision-preview",
            "gpt-4-1106-vision-preview",
        ],
    ),
    row("gpt-4", CL100K, 8_192, 4_096, &[]),
    row("gpt-3.5-turbo", CL100K, 16_385, 4_096, &["gpt-3.5", "gpt-35-turbo"]),
    row("gpt-3.5-turbo-16k", CL100K, 16_385, 4_096, &["gpt-35-turbo-16k"]),
    row("davinci-002", CL100K, 16_384, 4_096, &[]),
    row("babbage-002", CL100K, 16_384, 4_096, &[]),
    row("text-embedding-3-large", CL100K, 8_191, OPEN, &[]),
    row("text-embedding-3-small", CL100K, 8_191, OPEN, &[]),
    row("text-embedding-ada-002", CL100K, 8_191, OPEN, &[]),
];

// Encodings as above. Limits: litellm 1.75.8 (gpt-4.5) and 1.61.0 (o1-mini,
// o1-preview, chatgpt-4o, gpt-4-32k); OpenAI's list of models as copied in
// November 2023 (gpt-3.5-turbo's first versions and -instruct, code-davinci);
// the GPT-3 models as in OpenAI's help page on davinci and text-davinci-002 and
// in a list of 2023. GPT-2: 1,024 positions, from `config.json` of
// openai-community/gpt2 on Hugging Face.
const OPENAI_OLD: &[Row] = &[
    row("gpt-4.5-preview", O200K, 128_000, 16_384, &["gpt-4.5"]),
    row("chatgpt-4o-latest", O200K, 128_000, 4_096, &["chatgpt-4o"]),
    row("o1-mini", O200K, 128_000, 65_536, &[]),
    row("o1-preview", O200K, 128_000, 32_768, &[]),
    row("gpt-4-32k", CL100K, 32_768, 4_096, &[]),
    row("gpt-3.5-turbo-0613", CL100K, 4_096, OPEN, &["gpt-35-turbo-0613"]),
    row("gpt-3.5-turbo-0301", CL100K, 4_096, OPEN, &["gpt-35-turbo-0301"]),
    row("gpt-3.5-turbo-instruct", CL100K, 4_096, OPEN, &["gpt-35-turbo-instruct"]),
    row("text-davinci-003", P50K, 4_096, OPEN, &[]),
    row("text-davinci-002", P50K, 4_096, OPEN, &[]),
    row("code-davinci-002", P50K, 8_001, OPEN, &[]),
    row("text-curie-001", R50K, 2_049, OPEN, &[]),
    row("text-babbage-001", R50K, 2_049, OPEN, &[]),
    row("text-ada-001", R50K, 2_049, OPEN, &[]),
    row("davinci", R50K, 2_049, OPEN, &[]),
    row("curie", R50K, 2_049, OPEN, &[]),
    row("babbage", R50K, 2_049, OPEN, &[]),
    row("ada", R50K, 2_049, OPEN, &[]),
    row("gpt2", R50K, 1_024, OPEN, &["gpt-2"]),
];

// Limits: platform.claude.com, a page for each model since Opus 4.5 (November
// 2026); before that litellm 1.75.8 (3.7, 4, 4.1) and 1.61.0 (2 to 3.5). Windows
// of 1M that an older model has in a beta are left out. Which models have the
// newer tokenizer: platform.claude.com, "Token counting" (2026) and the page of
// Haiku 5.5; the factors are those of `ScaledEstimator`.
const ANTHROPIC: &[Row] = &[
    row("claude-fable-5.1", CLAUDE_4_7, 1_000_000, 128_000, &["claude-fable-5-1"]),
    row("claude-fable-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    row("claude-mythos-5.1", CLAUDE_4_7, 1_000_000, 128_000, &["claude-mythos-5-1"]),
    row("claude-mythos-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    row("claude-mythos-preview", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    row("claude-opus-5.5", CLAUDE_4_7, 1_000_000, 128_000, &["claude-opus-5-5"]),
    row("claude-opus-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    row("claude-opus-4.8", CLAUDE_4_7, 1_000_000, 128_000, &["claude-opus-4-8"]),
    row("claude-opus-4.7", CLAUDE_4_7, 1_000_000, 128_000, &["claude-opus-4-7"]),
    row("claude-sonnet-5.5", CLAUDE_4_7, 1_000_000, 128_000, &["claude-sonnet-5-5"]),
    row("claude-sonnet-5", CLAUDE_4_7, 1_000_000, 128_000, &[]),
    row("claude-haiku-5.5", CLAUDE_4_7, 1_000_000, 128_000, &["claude-haiku-5-5"]),
    row("claude-opus-4.6", CLAUDE, 1_000_000, 128_000, &["claude-opus-4-6", "claude-4.6-opus"]),
    row(
        "claude-sonnet-4.6",
        CLAUDE,
        1_000_000,
        128_000,
        &["claude-sonnet-4-6", "claude-4.6-sonnet"],
    ),
    row("claude-opus-4.5", CLAUDE, 200_000, 64_000, &["claude-opus-4-5", "claude-4.5-opus"]),
    row("claude-sonnet-4.5", CLAUDE, 200_000, 64_000, &["claude-sonnet-4-5", "claude-4.5-sonnet"]),
    row("claude-haiku-4.5", CLAUDE, 200_000, 64_000, &["claude-haiku-4-5", "claude-4.5-haiku"]),
    row("claude-opus-4.1", CLAUDE, 200_000, 32_000, &["claude-opus-4-1", "claude-4.1-opus"]),
    row("claude-opus-4", CLAUDE, 200_000, 32_000, &["claude-opus-4-0", "claude-4-opus"]),
    row("claude-sonnet-4", CLAUDE, 200_000, 64_000, &["claude-sonnet-4-0", "claude-4-sonnet"]),
    row("claude-3.7-sonnet", CLAUDE, 200_000, 128_000, &["claude-3-7-sonnet", "claude-sonnet-3.7"]),
    row("claude-3.5-sonnet", CLAUDE, 200_000, 8_192, &["claude-3-5-sonnet", "claude-sonnet-3.5"]),
    row("claude-3.5-haiku", CLAUDE, 200_000, 8_192, &["claude-3-5-haiku", "claude-haiku-3.5"]),
    row("claude-3-opus", CLAUDE, 200_000, 4_096, &["claude-opus-3"]),
    row("claude-3-sonnet", CLAUDE, 200_000, 4_096, &["claude-sonnet-3"]),
    row("claude-3-haiku", CLAUDE, 200_000, 4_096, &["claude-haiku-3"]),
    row("claude-2.1", CLAUDE, 200_000, 8_191, &["claude-v2:1"]),
    row("claude-2", CLAUDE, 100_000, 8_191, &["claude-2.0", "claude-v2"]),
    row("claude-instant", CLAUDE, 100_000, 8_191, &["claude-instant-1", "claude-instant-1.2"]),
];

// Limits: ai.google.dev, the pages of gemini-3-pro-preview (November 2025) and
// gemini-3.1-pro-preview (2026), and Google Cloud's page on Gemini 4 (2026: a
// window shared by input and output, 65,536 out unless more is asked for);
// litellm 1.109.1 for the rest of those in service (Gemma too), 1.75.8 and 1.61.0
// for those that are gone.
const GOOGLE: &[Row] = &[
    row("gemini-4-argon", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.8-flash", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.7-flash", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.6-flash", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.5-flash", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.5-flash-lite", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.1-pro", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3.1-flash-lite", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3-pro", FILE, 1_048_576, 65_536, &[]),
    row("gemini-3-flash", FILE, 1_048_576, 65_536, &[]),
    row("gemini-pro-latest", FILE, 1_048_576, 65_536, &[]),
    row("gemini-flash-latest", FILE, 1_048_576, 65_536, &[]),
    row("gemini-flash-lite-latest", FILE, 1_048_576, 65_536, &[]),
    row("gemini-2.5-pro", FILE, 1_048_576, 65_536, &[]),
    row("gemini-2.5-flash", FILE, 1_048_576, 65_536, &[]),
    row("gemini-2.5-flash-lite", FILE, 1_048_576, 65_536, &[]),
    row("gemini-2.5-computer-use", FILE, 128_000, 64_000, &[]),
    row("gemini-2.0-pro", FILE, 2_097_152, 8_192, &[]),
    row("gemini-2.0-flash", FILE, 1_048_576, 8_192, &[]),
    row("gemini-2.0-flash-lite", FILE, 1_048_576, 8_192, &[]),
    row("gemini-1.5-pro", FILE, 2_097_152, 8_192, &[]),
    row("gemini-1.5-flash", FILE, 1_048_576, 8_192, &[]),
    row("gemini-1.5-flash-8b", FILE, 1_048_576, 8_192, &[]),
    row("gemini-pro", FILE, 32_760, 8_192, &["gemini-1.0-pro"]),
    row("gemma-4-31b", FILE, 262_144, 32_768, &["gemma4:31b"]),
    row("gemma-4-26b", FILE, 262_144, 32_768, &["gemma4:26b"]),
    row("gemma-3-27b", FILE, 131_072, 8_192, &["gemma3:27b"]),
    row("gemma-2-27b", FILE, 8_192, OPEN, &["gemma2:27b"]),
    row("gemma-2-9b", FILE, 8_192, OPEN, &["gemma2:9b"]),
];

// litellm 1.109.1: Meta's own service (3.3, 4), AWS's model cards (3, 3.1, 3.2),
// Fireworks and Ollama (2).
const META: &[Row] = &[
    row("llama-4-maverick", FILE, 1_000_000, OPEN, &["llama4-maverick", "llama4:maverick"]),
    row("llama-4-scout", FILE, 10_000_000, OPEN, &["llama4-scout", "llama4:scout"]),
    row("llama-3.3", FILE, 128_000, OPEN, &["llama3.3", "llama3-3", "llama-3-3", "llama-v3p3"]),
    row("llama-3.2", FILE, 128_000, OPEN, &["llama3.2", "llama3-2", "llama-3-2", "llama-v3p2"]),
    row(
        "llama-3.1",
        FILE,
        128_000,
        OPEN,
        &["llama3.1", "llama3-1", "llama-3-1", "llama-v3p1", "meta-llama-3.1"],
    ),
    row("llama-3", FILE, 8_192, OPEN, &["llama3", "llama-v3", "meta-llama-3"]),
    row("llama-2", FILE, 4_096, OPEN, &["llama2", "llama-v2", "llama-2-chat"]),
];

// litellm 1.109.1 for what is in service, with AWS, DeepInfra and Fireworks for
// the open weights (Mixtral 8x22B is Fireworks' figure); 1.75.8 and 1.61.0 for
// what is gone.
const MISTRAL: &[Row] = &[
    row("mistral-large-4", FILE, 1_048_576, OPEN, &["mistral-large-4-0"]),
    row("mistral-large-3", FILE, 262_144, OPEN, &["mistral-large-2512", "mistral-large-latest"]),
    row("mistral-large-2411", FILE, 128_000, OPEN, &[]),
    row("mistral-large-2407", FILE, 128_000, OPEN, &[]),
    row("mistral-large-2402", FILE, 32_000, 8_191, &[]),
    row(
        "mistral-medium-3.5",
        FILE,
        262_144,
        OPEN,
        &["mistral-medium-3-5", "mistral-medium-2604", "mistral-medium-latest"],
    ),
    row("mistral-medium-2505", FILE, 131_072, 8_191, &[]),
    row("mistral-small-2603", FILE, 262_144, OPEN, &["mistral-small-latest"]),
    row("mistral-small-3.2", FILE, 128_000, OPEN, &["mistral-small-2506"]),
    row("mistral-small-24b-instruct-2501", FILE, 32_768, OPEN, &["mistral-small-2501"]),
    row("ministral-3-14b", FILE, 262_144, OPEN, &["ministral-14b"]),
    row("ministral-3-8b", FILE, 262_144, OPEN, &["ministral-8b-2512", "ministral-8b-latest"]),
    row("ministral-3-3b", FILE, 131_072, OPEN, &["ministral-3b-2512", "ministral-3b-latest"]),
    row("codestral-2508", FILE, 128_000, OPEN, &["codestral-latest"]),
    row("codestral-2405", FILE, 32_000, 8_191, &[]),
    row("devstral-2", FILE, 256_000, OPEN, &["devstral-latest"]),
    row("mistral-nemo", FILE, 128_000, OPEN, &["open-mistral-nemo"]),
    row("mixtral-8x22b", FILE, 65_536, OPEN, &["open-mixtral-8x22b", "mixtral:8x22b"]),
    row("mixtral-8x7b", FILE, 32_000, OPEN, &["open-mixtral-8x7b", "mixtral:8x7b"]),
    row("mistral-7b", FILE, 32_000, OPEN, &["open-mistral-7b", "mistral:7b"]),
];

// litellm 1.109.1; V3 and R1 as DeepSeek's own service had them, V3.1 as
// Fireworks has it.
const DEEPSEEK: &[Row] = &[
    row("deepseek-v4-pro", FILE, 1_000_000, 393_216, &[]),
    row("deepseek-v4-flash", FILE, 1_000_000, 393_216, &["deepseek-flash"]),
    row("deepseek-v3.2", FILE, 163_840, OPEN, &["deepseek-v3p2"]),
    row("deepseek-v3.1", FILE, 128_000, 8_192, &["deepseek-v3p1"]),
    row("deepseek-v3", FILE, 65_536, 8_192, &[]),
    row("deepseek-r1", FILE, 65_536, 8_192, &["r1"]),
    row("deepseek-chat", FILE, 131_072, 8_192, &[]),
    row("deepseek-reasoner", FILE, 131_072, 65_536, &[]),
];

// litellm 1.109.1: Alibaba's own service, whose figures are input limits, for
// the names without a size; Together, DeepInfra and AWS for the open weights.
// Qwen 2.5 and the first Qwen 3 have 32,768 tokens without YaRN (the model card
// of Qwen 2.5, AWS for Qwen 3 32B); Qwen3-Coder as in its model card (2025).
const QWEN: &[Row] = &[
    row("qwen3.8-max", FILE, 991_808, 131_072, &[]),
    row("qwen3.8-flash", FILE, 991_808, 131_072, &[]),
    row("qwen3.7-max", FILE, 991_808, 65_536, &[]),
    row("qwen3.7-plus", FILE, 991_808, 65_536, &[]),
    row("qwen3.5-plus", FILE, 991_808, 65_536, &[]),
    row("qwen3.6", FILE, 262_144, OPEN, &["qwen-3.6"]),
    row("qwen3.5", FILE, 262_144, OPEN, &["qwen-3.5"]),
    row("qwen3-max", FILE, 256_000, 65_536, &[]),
    row("qwen3-coder", FILE, 262_144, OPEN, &[]),
    row("qwen3-coder-plus", FILE, 997_952, 65_536, &[]),
    row("qwen3-coder-flash", FILE, 997_952, 65_536, &[]),
    row("qwen3-next", FILE, 262_144, OPEN, &[]),
    row("qwen3-235b-a22b-instruct-2507", FILE, 262_144, OPEN, &["qwen3-235b-a22b-thinking-2507"]),
    row("qwen3", FILE, 32_768, OPEN, &["qwen-3"]),
    row("qwen2.5", FILE, 32_768, OPEN, &["qwen-2.5"]),
    row("qwen2", FILE, 32_768, OPEN, &["qwen-2"]),
    row("qwq-32b", FILE, 131_072, OPEN, &["qwq:32b"]),
    row("qwen-max", FILE, 30_720, 8_192, &[]),
    row("qwen-plus", FILE, 129_024, 16_384, &[]),
    row("qwen-turbo", FILE, 129_024, 16_384, &[]),
    row("qwen-flash", FILE, 997_952, 32_768, &[]),
];

// Not facts but caution: what holds for each text model of the family above.
const FAMILIES: &[Row] = &[
    row("gpt-5.*", O200K, 128_000, OPEN, &["gpt-5.", "gpt-5-"]),
    row("claude-*", CLAUDE_4_7, 200_000, OPEN, &["claude-"]),
    row("gemini-*", FILE, 128_000, OPEN, &["gemini-"]),
];
