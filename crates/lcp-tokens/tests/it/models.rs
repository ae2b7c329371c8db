//! The table of models, and how names find its rows.

use std::collections::HashMap;

use lcp_tokens::{ENCODINGS, Model, Models};

fn find_name(models: &Models, name: &str) -> String {
    match models.find(name) {
        Ok(model) => model.name.clone(),
        Err(error) => format!("{error}"),
    }
}

#[test]
fn every_model_row_is_consistent() {
    let models = Models::builtin();
    let mut names = HashMap::new();
    let mut prefixes = HashMap::new();
    for model in models.iter() {
        let name = &model.name;
        assert!(model.window > 0, "{name}");
        assert!(
            model.output_max.is_none_or(|output| 0 < output && output < model.window),
            "{name}"
        );
        let known = |encoding: &String| ENCODINGS.contains(&encoding.as_str());
        assert!(model.encoding.as_ref().is_none_or(known), "{name}: {:?}", model.encoding);
        assert_eq!(model.tokenizer_file("/work".as_ref()), None, "{name}");
        for spelling in [name].into_iter().chain(&model.aliases) {
            assert_eq!(names.insert(spelling.to_lowercase(), name), None, "{spelling} twice");
        }
        for prefix in &model.prefixes {
            assert_eq!(prefixes.insert(prefix.to_lowercase(), name), None, "{prefix} twice");
        }
    }
    assert!(names.len() > 120, "{}", names.len());
}

#[test]
fn every_spelling_resolves_to_its_model() {
    let models = Models::builtin();
    for model in models.iter() {
        let family = if model.is_family_default { "ultra" } else { "" };
        for prefix in &model.prefixes {
            let spelling = format!("{prefix}{family}");
            assert_eq!(find_name(&models, &spelling), model.name, "{spelling}");
            assert_eq!(find_name(&models, &spelling.to_uppercase()), model.name, "{spelling}");
        }
        for alias in &model.aliases {
            assert_eq!(find_name(&models, alias), model.name, "{alias}");
        }
        assert_eq!(models.find(&model.name), Ok(model));
    }
}

/// A family's row promises no more than the least of its members has.
#[test]
fn family_defaults_use_the_smallest_window() {
    let models = Models::builtin();
    for (family, older) in [
        ("gpt-5", &["-"; 0][..]),
        ("claude-", &["claude-2", "claude-2.1", "claude-instant"]),
        ("gemini-", &["gemini-pro"]),
    ] {
        let of_family = |model: &&Model| model.name.starts_with(family);
        let (assumed, members): (Vec<_>, Vec<_>) =
            models.iter().filter(of_family).partition(|model| model.is_family_default);
        let current = members.iter().filter(|model| !older.contains(&model.name.as_str()));
        let smallest = current.clone().map(|model| model.window).min().unwrap();
        let [assumed] = assumed[..] else { panic!("{family} has {} rows", assumed.len()) };
        assert_eq!(assumed.window, smallest, "{family}");
        assert_eq!(assumed.output_max, None, "{family}");
        assert!(current.clone().any(|model| model.encoding == assumed.encoding), "{family}");
    }
    assert_eq!(models.iter().filter(|model| model.is_family_default).count(), 3);
}

/// The encodings of the table are those that counters have names for.
#[cfg(feature = "tiktoken")]
#[test]
fn table_encodings_match_the_counters() {
    use lcp_tokens::{Encoding, ScaledEstimator, TokenEstimator};

    let claude = [ScaledEstimator::claude(), ScaledEstimator::claude_4_7()];
    let claude = claude.iter().map(|estimator| estimator.name().to_owned());
    let openai = Encoding::ALL.iter().map(|encoding| encoding.name().to_owned());
    let mut counted: Vec<_> = openai.chain(claude).collect();
    counted.extend(["heuristic", "code-aware"].map(str::to_owned));
    assert_eq!(counted, ENCODINGS);
}

#[test]
fn common_name_spellings_resolve() {
    let models = Models::builtin();
    for (name, expected) in [
        // As they are.
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("  gpt-4 ", "gpt-4"),
        ("GPT-4 Turbo", "gpt-4-turbo"),
        ("Claude 3.5 Sonnet", "claude-3.5-sonnet"),
        // With a date or a build.
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-32k-0613", "gpt-4-32k"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4.5-preview-2025-02-27", "gpt-4.5-preview"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("gpt-3.5-turbo-16k-0613", "gpt-3.5-turbo-16k"),
        ("gpt-35-turbo", "gpt-3.5-turbo"),
        ("azure/gpt-35-turbo-0613", "gpt-3.5-turbo-0613"),
        ("gpt-oss", "gpt-oss"),
        ("gpt-oss:latest", "gpt-oss"),
        ("gpt-oss-safeguard-20b", "gpt-oss"),
        ("gpt-3.5-turbo-instruct-0914", "gpt-3.5-turbo-instruct"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("gpt-5.1-codex-max", "gpt-5.1-codex-max"),
        ("gpt-5.4-mini-2026-03-17", "gpt-5.4-mini"),
        ("gpt-5.6-sol", "gpt-5.6"),
        ("o1-preview-2024-09-12", "o1-preview"),
        ("o1-2024-12-17", "o1"),
        ("o3-deep-research", "o3"),
        ("o4-mini-2025-04-16", "o4-mini"),
        ("claude-3-opus-20240229", "claude-3-opus"),
        ("claude-3-5-sonnet-latest", "claude-3.5-sonnet"),
        ("claude-3-7-sonnet-20250219", "claude-3.7-sonnet"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-1-20250805", "claude-opus-4.1"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4.5"),
        ("claude-opus-4-7", "claude-opus-4.7"),
        ("claude-instant-1.2", "claude-instant"),
        ("gemini-1.5-pro-002", "gemini-1.5-pro"),
        ("gemini-2.5-flash-lite-preview-06-17", "gemini-2.5-flash-lite"),
        ("gemini-2.5-pro-exp-03-25", "gemini-2.5-pro"),
        ("gemini-3.1-pro-preview", "gemini-3.1-pro"),
        ("mistral-large-latest", "mistral-large-3"),
        ("deepseek-v3-0324", "deepseek-v3"),
        ("Qwen2.5-72B-Instruct", "qwen2.5"),
        // With a provider before it.
        ("openai/gpt-4o", "gpt-4o"),
        ("openai:gpt-4.1-nano", "gpt-4.1-nano"),
        ("azure/gpt-4o-mini", "gpt-4o-mini"),
        ("openrouter/anthropic/claude-opus-4.5:beta", "claude-opus-4.5"),
        ("anthropic/claude-3-5-haiku-20241022", "claude-3.5-haiku"),
        ("models/gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("google-gla:gemini-1.5-flash", "gemini-1.5-flash"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1"),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"),
        ("meta-llama/Llama-2-70b-chat-hf", "llama-2"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b-instruct-2507"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1"),
        ("accounts/fireworks/models/llama-v3p1-405b-instruct", "llama-3.1"),
        // Bedrock and Vertex.
        ("anthropic.claude-v2:1", "claude-2.1"),
        ("anthropic.claude-v2", "claude-2"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3.5-sonnet"),
        ("global.anthropic.claude-opus-4-6-v1:0", "claude-opus-4.6"),
        ("us-gov.anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
            "claude-sonnet-4",
        ),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3.1"),
        ("meta.llama3-70b-instruct-v1:0", "llama-3"),
        ("mistral.mistral-large-2402-v1:0", "mistral-large-2402"),
        ("us.deepseek.r1-v1:0", "deepseek-r1"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b"),
        ("qwen.qwen3-32b-v1:0", "qwen3"),
        ("claude-3-5-sonnet-v2@20241022", "claude-3.5-sonnet"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4.5"),
        ("publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"),
        // Fine-tunes; the name of the organisation says nothing.
        ("ft:gpt-4o-2024-08-06:org::id", "gpt-4o"),
        ("ft:gpt-3.5-turbo:acme-pro-audio::x", "gpt-3.5-turbo"),
        ("openai/ft:gpt-4.1-mini-2025-04-14:org::id", "gpt-4.1-mini"),
        // Ollama.
        ("llama3.1:70b", "llama-3.1"),
        ("llama3:8b-instruct-q4_K_M", "llama-3"),
        ("gpt-oss:20b", "gpt-oss-20b"),
        ("qwen3:8b", "qwen3"),
        ("ollama/llama3.2", "llama-3.2"),
        // Members of a family that are not in the table.
        ("gpt-5.9", "gpt-5.*"),
        ("gpt-5.5-mini", "gpt-5.*"),
        ("claude-opus-4-9", "claude-*"),
        ("eu.anthropic.claude-sonnet-7-20280101-v1:0", "claude-*"),
        ("gemini-7-pro", "gemini-*"),
    ] {
        assert_eq!(find_name(&models, name), expected, "{name}");
    }
}

#[test]
fn well_known_models_have_expected_figures() {
    let models = Models::builtin();
    for (name, encoding, window, output) in [
        ("gpt-4", Some("cl100k_base"), 8_192, Some(4_096)),
        ("gpt-4-32k", Some("cl100k_base"), 32_768, Some(4_096)),
        ("gpt-3.5-turbo", Some("cl100k_base"), 16_385, Some(4_096)),
        ("gpt-4o", Some("o200k_base"), 128_000, Some(16_384)),
        ("gpt-4.1", Some("o200k_base"), 1_047_576, Some(32_768)),
        ("gpt-5", Some("o200k_base"), 400_000, Some(128_000)),
        ("gpt-oss-20b", Some("o200k_harmony"), 131_072, None),
        ("text-davinci-003", Some("p50k_base"), 4_096, None),
        ("gpt2", Some("r50k_base"), 1_024, None),
        ("claude-3-opus", Some("claude"), 200_000, Some(4_096)),
        ("claude-opus-4-6", Some("claude"), 1_000_000, Some(128_000)),
        ("claude-opus-4-7", Some("claude-4.7"), 1_000_000, Some(128_000)),
        ("claude-haiku-5-5", Some("claude-4.7"), 1_000_000, Some(128_000)),
        ("claude-haiku-4-5", Some("claude"), 200_000, Some(64_000)),
        ("gemini-2.5-pro", None, 1_048_576, Some(65_536)),
        ("llama-3.1-8b", None, 128_000, None),
    ] {
        let model = models.find(name).unwrap();
        assert_eq!(
            (model.encoding.as_deref(), model.window, model.output_max),
            (encoding, window, output),
            "{name}"
        );
        assert!(!model.is_family_default, "{name}");
    }
}

/// What a prefix must not swallow.
#[test]
fn unknown_models_do_not_match_known_ones() {
    let models = Models::builtin();
    for name in [
        "", "-", "/", "gpt-45", "gpt-4x", "gpt-4.2", "gpt-4-2", "gpt-4-5-preview", "gpt-40",
        "gpt-4o.1", "gpt-7", "gpt-50", "gpt-4o-audio-preview", "gpt-4o-mini-tts",
        "gpt-4o-transcribe", "gpt-4o-realtime-preview", "gpt-4.1-pro", "o2", "o3-nano", "o5-mini",
        "claude", "claude-", "gemini-2.5-flash-preview-tts", "gemini-2.5-flash-image",
        "gemini-embedding-001", "llama-3-4-70b", "llama-3.9-70b", "llama-5-70b",
        "llama-guard-3-8b", "deepseek-r1-distill-llama-70b", "deepseek-v5", "mistral-large",
        "mistral-large-5", "some-model-that-nobody-knows",
    ] {
        let error = models.find(name).expect_err(name);
        assert_eq!(error.name, name);
        assert!(error.suggestions.len() <= 5, "{error}");
    }
}

#[test]
fn unknown_name_suggests_similar_names() {
    let models = Models::builtin();
    for (name, near) in [
        ("gpt-4p", "gpt-4"),
        ("gtp-4o", "gpt-4o"),
        ("gpt4o", "gpt-4o"),
        ("gpt-4o-audio-preview", "gpt-4o"),
        ("openai/gpt-41-mini", "gpt-4.1-mini"),
        ("o5", "o3"),
        ("cluade-3-opus", "claude-3-opus"),
        ("claud-3.5-sonet", "claude-3.5-sonnet"),
        ("gemni-2.5-pro", "gemini-2.5-pro"),
        ("llama-5-70b-instruct", "llama-3"),
        ("deepseek-v5", "deepseek-v3"),
        ("mistral-large", "mistral-large-3"),
    ] {
        let error = models.find(name).unwrap_err();
        assert!(error.suggestions.iter().any(|known| known == near), "{error}");
        assert!(error.suggestions.iter().all(|known| models.find(known).is_ok()), "{error}");
        assert!(
            error.to_string().contains(&format!("; similar names: {}", error.suggestions[0])),
            "{error}"
        );
    }
    // The nearest is first.
    assert_eq!(models.find("gpt-41-mini").unwrap_err().suggestions[0], "gpt-4.1-mini");
    let error = models.find("zebra").unwrap_err();
    assert_eq!(error.to_string(), "unknown model \"zebra\"");
}

/// Names come from files and flags.
#[test]
fn very_long_and_unusual_names_are_handled() {
    let models = Models::builtin();
    let long = "gpt-4o".repeat(100_000);
    assert_eq!(models.find(&long).unwrap_err().name, long);
    let nested = "us.openai:".repeat(10_000) + "gpt-4o";
    assert_eq!(find_name(&models, &nested), "gpt-4o");
    for name in ["\0", "ft:", "ft::::", "::::", "....", "ſ", "İgpt-4o", "模型", "gpt-4o模型"]
    {
        assert!(models.find(name).is_err(), "{name:?}");
    }
    // These are letters: above they went on with the word, here they are a part.
    assert_eq!(find_name(&models, "gpt-4o-模型"), "gpt-4o");
}

#[cfg(feature = "models-file")]
mod file {
    use std::path::Path;

    use lcp_tokens::Models;

    use super::find_name;

    fn with(text: &str) -> Models {
        let mut models = Models::builtin();
        models.extend_from_toml(text).unwrap();
        models
    }

    #[test]
    fn entries_add_models() {
        let models = with(
            r#"
            budget = { total = 1000 } # of others

            [[model]]
            name = "My Model"
            prefixes = ["my-model-"]
            aliases = ["mine", "Acme/Big_One"]
            encoding = "o200k_base"
            window = 128000
            output = 16384

            [[model]]
            name = "llama-9"
            prefixes = ["llama-9"]
            encoding = "tokenizers/llama9.json"
            window = 4_294_967_295
            "#,
        );
        for name in ["my-model", "MINE", "acme/big-one", "my-model-2", "my_model_mini-tts"] {
            let model = models.find(name).unwrap();
            assert_eq!(model.name, "My Model", "{name}");
            assert_eq!((model.window, model.output_max), (128_000, Some(16_384)));
            assert_eq!(model.encoding.as_deref(), Some("o200k_base"));
            assert_eq!(model.tokenizer_file(Path::new("/work")), None);
        }
        let llama = models.find("llama-9-70b-instruct").unwrap();
        assert_eq!((llama.window, llama.output_max), (u32::MAX, None));
        let file = Path::new("/work").join("tokenizers/llama9.json");
        assert_eq!(llama.tokenizer_file(Path::new("/work")), Some(file));
        // Without a separator at its end, a prefix stops at another version.
        assert!(models.find("llama-9-2-70b").is_err());
        assert!(models.find("my-modem").unwrap_err().suggestions.contains(&"My Model".to_owned()));
        assert_eq!(models.iter().next().unwrap().name, "My Model");
    }

    #[test]
    fn entries_override_built_in_models() {
        let models = with(
            "[[model]]\nname = \"gpt-4o\"\nwindow = 64000\n\
             [[model]]\nname = \"local\"\naliases = [\"gpt-4\"]\nprefixes = [\"gpt-4o-mini\"]\nwindow = 10\n",
        );
        // It keeps what the entry leaves out, and its other spellings.
        let replaced = models.find("gpt-4o-2024-08-06").unwrap();
        assert_eq!((replaced.window, replaced.output_max), (64_000, Some(16_384)));
        assert_eq!(replaced.encoding.as_deref(), Some("o200k_base"));
        assert_eq!(models.iter().filter(|model| model.name == "gpt-4o").count(), 1);
        // A spelling is taken; the rest of the row stays.
        assert_eq!(find_name(&models, "gpt-4"), "local");
        assert_eq!(find_name(&models, "gpt-4-0613"), "gpt-4");
        assert_eq!(find_name(&models, "gpt-4o-mini-2024-07-18"), "local");
        // An old limit that the new window has no room for is dropped.
        let models = with("[[model]]\nname = \"GPT-4\"\nwindow = 1000\n");
        assert_eq!(models.find("gpt-4").unwrap().output_max, None);
        // A later file wins over an earlier one.
        let mut models = with("[[model]]\nname = \"gpt-4o\"\nwindow = 1\n");
        models.extend_from_toml("[[model]]\nname = \"gpt-4o\"\nwindow = 2\n").unwrap();
        assert_eq!(models.find("gpt-4o").unwrap().window, 2);
    }

    #[test]
    fn file_without_models_has_no_effect() {
        for text in ["", "model = []", "# only a comment\n", "[budget]\ntotal = 5\n"] {
            assert_eq!(with(text), Models::builtin(), "{text:?}");
        }
    }

    #[test]
    fn invalid_entries_report_line_and_column() {
        let good = "[[model]]\nname = \"good\"\nwindow = 9\n";
        for (text, place, message) in [
            ("[[model]\nname = 1", (1, 9), "unclosed array table"),
            ("[[model]]\nname = \"a\"\nwindow = 1\nwindwo = 2", (4, 1), "unknown key `windwo`"),
            ("[[model]]\nwindow = 1", (1, 1), "missing key `name`"),
            ("[[model]]\nname = \"a\"", (1, 1), "missing key `window`"),
            ("[[model]]\nname = \"a\"\nwindow = \"9\"", (3, 10), "expected u32"),
            ("[[model]]\nname = \"a\"\nwindow = -1", (3, 10), "expected u32"),
            ("[[model]]\nname = \"a\"\nwindow = 4294967296", (3, 10), "expected u32"),
            ("[[model]]\nname = \"a\"\nwindow = 0", (3, 10), "window of \"a\" must not be 0"),
            (
                "[[model]]\nname = \"a\"\nwindow = 5\noutput = 0",
                (4, 10),
                "output of \"a\" must not be 0",
            ),
            (
                "[[model]]\nname = \"a\"\nwindow = 5\noutput = 6",
                (4, 10),
                "output of \"a\" exceeds its window: 6 > 5 tokens",
            ),
            ("[[model]]\nname = \" \"\nwindow = 5", (2, 8), "name must not be empty"),
            (
                "[[model]]\nname = \"a\"\naliases = [\"b\", \"\"]\nwindow = 5",
                (3, 17),
                "aliases must not be empty",
            ),
            (
                "[[model]]\nname = \"a\"\nprefixes = [\"\"]\nwindow = 5",
                (3, 13),
                "prefixes must not be empty",
            ),
            (
                "[[model]]\nname = \"é b\"\naliases = [\"é\", \"É_B\"]\nwindow = 5",
                (3, 17),
                "duplicate \"É_B\" in aliases",
            ),
            ("[[model]]\nname = \"GOOD\"\nwindow = 5", (2, 8), "duplicate \"GOOD\" in name"),
            (
                "[[model]]\nname = \"a\"\nwindow = 5\nencoding = \"o200k\"",
                (4, 12),
                "unknown encoding \"o200k\"; expected one of: o200k_base, ",
            ),
        ] {
            let text = format!("{good}{text}");
            let mut models = Models::builtin();
            let error = models.extend_from_toml(&text).unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(message), "{shown} for {text}");
            // The good entry comes first and has three lines.
            assert_eq!((error.line - 3, error.column), place, "{shown} for {text}");
            let end = format!(", at line {}, column {}", error.line, error.column);
            assert!(shown.ends_with(&end) && !shown.contains('\n'), "{shown}");
            assert_eq!(models, Models::builtin(), "nothing was added for {text}");
        }
    }

    #[test]
    fn toml_error_exposes_message_and_position() {
        let error = Models::builtin()
            .extend_from_toml("[[model]]\nname = \"a\"\nwindow = 1\naliases = [\"a\"]")
            .unwrap_err();
        assert_eq!(error.message, "duplicate \"a\" in aliases");
        assert_eq!((error.line, error.column), (4, 12));
        let error = Models::builtin().extend_from_toml("\nmodel = \"gpt-4\"").unwrap_err();
        assert!(error.message.contains("invalid type"), "{error}");
        assert_eq!((error.line, error.column), (2, 9));
    }
}
