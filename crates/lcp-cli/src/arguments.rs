//! Parsing of command-line arguments, with usage errors of one line.

use std::ffi::OsString;
use std::io::Write as _;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind as ClapErrorKind};
use lcp_app::names::{current, value_of};
use lcp_app::{Error, ErrorKind};
#[cfg(feature = "full")]
use lcp_ingest::SecretPolicy;
use lcp_tokens::Models;

use crate::files;
use crate::output::Output;

/// Parses the arguments of a process, of which the first is the name of the program.
///
/// # Errors
///
/// Returns an error of the kind `Usage` if the arguments are invalid, and the [`Output`] to print
/// it with. `--help` and `--version` end the process, unless printing fails: that is an error too.
pub fn parse<P: Parser>(arguments: Vec<OsString>) -> Result<P, (Error, Output)> {
    P::try_parse_from(&arguments).map_err(|error| match error.kind() {
        ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            match files::to_stdout_result(printed) {
                Ok(_) => std::process::exit(0),
                Err(failure) => (failure, Output::from_raw_arguments(arguments.into_iter())),
            }
        }
        ClapErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => {
            let words: Vec<_> =
                arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let failure = usage_error(&error, &P::command(), &words);
            (failure, Output::from_raw_arguments(arguments.into_iter()))
        }
    })
}

/// Converts an error of clap to an error of one line. Clap prints one or more lines of text,
/// optional tips, and the usage. Instead of the tips, the hint names similar flags or subcommands.
fn usage_error(error: &clap::Error, command: &clap::Command, words: &[String]) -> Error {
    let printed = error.render().to_string();
    let printed = printed.strip_prefix("error: ").unwrap_or(&printed);
    let lines = printed.lines().take_while(|line| {
        !line.starts_with("Usage: ") && !line.starts_with("For more information, ")
    });
    let lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("tip: "));
    if error.kind() == ClapErrorKind::MissingRequiredArgument {
        return missing_argument(error, command, words);
    }
    let failure = Error::new(ErrorKind::Usage, lines.collect::<Vec<_>>().join(" "));
    let hint = similar_names(error, command)
        .or_else(|| missing_equals_sign(error, command, words))
        .or_else(|| flag_before_subcommand(error))
        .or_else(|| other_value(error));
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Returns the error for arguments that the command or one of its flags requires.
fn missing_argument(error: &clap::Error, command: &clap::Command, words: &[String]) -> Error {
    let names = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.join(" "),
        _ => String::new(),
    };
    // The flag that requires the missing arguments. Without it, nothing is missing.
    let needs = (1..words.len()).find_map(|at| {
        let (flag, value) = match words[at].split_once('=') {
            Some((flag, _)) => (flag, 0),
            None => (words[at].as_str(), 1),
        };
        let arg = find_flag(command, flag.strip_prefix("--")?)?;
        let value = value * usize::from(arg.get_action().takes_values());
        let rest = words[..at].iter().chain(words.get(at + 1 + value..).unwrap_or_default());
        let error = command.clone().try_get_matches_from(rest).err();
        error
            .is_none_or(|error| error.kind() != ClapErrorKind::MissingRequiredArgument)
            .then_some(flag)
    });
    match needs {
        Some(flag) => Error::new(ErrorKind::Usage, format!("{flag} requires {names}"))
            .with_hint(format!("pass {names} as well, or omit {flag}")),
        None => Error::new(ErrorKind::Usage, format!("missing argument: {names}"))
            .with_hint("pass --help to list the arguments"),
    }
}

/// Returns a hint for a value that belongs to another flag, or has the wrong form.
fn other_value(error: &clap::Error) -> Option<String> {
    let (Some(ContextValue::String(flag)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    else {
        return None;
    };
    if flag.starts_with("--encoding") {
        let is_model = Models::builtin().find(value).is_ok();
        return is_model.then(|| format!("pass a model with --model: `--model {value}`"));
    }
    let digits = value.strip_suffix(['k', 'K'])?;
    let number = digits.parse::<u32>().ok()?.checked_mul(1_000)?;
    flag.contains("<N>").then(|| format!("write the number in digits: {number}"))
}

/// Returns a hint for a flag that comes before the subcommand to which it belongs.
fn flag_before_subcommand(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(name) if error.kind() == ClapErrorKind::ArgumentConflict => {
            Some(format!("write the flags after `{name}`"))
        }
        _ => None,
    }
}

/// Returns a hint with the similar names that clap suggests. Hidden names are left out, and so are flags with
/// another first letter.
fn similar_names(error: &clap::Error, command: &clap::Command) -> Option<String> {
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.as_str(),
        _ => "",
    };
    let kinds =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let names = kinds.into_iter().filter_map(|kind| Some((kind, error.get(kind)?)));
    let names = names.flat_map(|(kind, names)| match names {
        ContextValue::String(name) => vec![(kind, name)],
        ContextValue::Strings(names) => names.iter().map(|name| (kind, name)).collect(),
        _ => Vec::new(),
    });
    let names: Vec<_> = names
        .filter(|(kind, name)| *kind == ContextKind::SuggestedValue || is_visible(command, name))
        .filter(|(kind, name)| {
            *kind != ContextKind::SuggestedArg || unknown.get(..3) == name.get(..3)
        })
        // The most similar name is the last one.
        .rev()
        .take(2)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

/// Returns whether help lists this subcommand or flag, in this command or below.
fn is_visible(command: &clap::Command, name: &str) -> bool {
    let flag = name.trim_start_matches("--").split([' ', '=']).next();
    command
        .get_arguments()
        .any(|arg| name.starts_with("--") && !arg.is_hide_set() && arg.get_long() == flag)
        || command
            .get_subcommands()
            .filter(|below| !below.is_hide_set())
            .any(|below| below.get_name() == name || is_visible(below, name))
}

/// Returns a hint if the value of a flag is separated by a space, but the flag needs an equals sign.
fn missing_equals_sign(
    error: &clap::Error,
    command: &clap::Command,
    words: &[String],
) -> Option<String> {
    let Some(ContextValue::String(unexpected)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    words.windows(2).find_map(|pair| {
        let (flag, value) = (&pair[0], &pair[1]);
        let arg = find_flag(command, flag.strip_prefix("--")?)?;
        let values = arg.get_possible_values();
        let is_value = value == unexpected || values.iter().any(|it| it.get_name() == value);
        (arg.is_require_equals_set() && is_value)
            .then(|| format!("write the value of {flag} with an equals sign: `{flag}={value}`"))
    })
}

/// Returns the flag with this name, of this command or of one below.
fn find_flag<'c>(command: &'c clap::Command, name: &str) -> Option<&'c clap::Arg> {
    let own = command.get_arguments().find(|arg| arg.get_long() == Some(name));
    own.or_else(|| command.get_subcommands().find_map(|below| find_flag(below, name)))
}

/// Returns a parser that maps names to values. Former names are hidden aliases.
pub fn by_name<T: Copy + PartialEq + Send + Sync + 'static, const N: usize>(
    names: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let possible = current(&names).into_iter().map(|name| {
        let value = value_of(&names, name);
        let same = names.iter().filter(|(_, other)| Some(*other) == value);
        PossibleValue::new(name).aliases(same.map(|(alias, _)| *alias).filter(|it| *it != name))
    });
    PossibleValuesParser::new(possible.collect::<Vec<_>>())
        .try_map(move |name| value_of(&names, &name).ok_or("unknown name"))
}

/// Returns a parser of the policies for secrets in blocks that refer to one another.
#[cfg(feature = "full")]
pub fn block_secrets() -> impl TypedValueParser<Value = SecretPolicy> {
    let policies = [SecretPolicy::Redact, SecretPolicy::Warn, SecretPolicy::Off];
    by_name(policies.map(|policy| (policy.name(), policy)))
}

/// Returns a parser that maps `on` to `true` and `off` to `false`.
pub fn on_off() -> impl TypedValueParser<Value = bool> {
    by_name([("on", true), ("off", false)])
}

/// Parses a number of tokens.
pub fn parse_tokens(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("expected a number of tokens from 0 to {}", u32::MAX))
}

/// Returns the token in the environment variable `LCP_TOKEN`.
///
/// # Errors
///
/// Returns an error if it is not a token. An empty one is none: the server would be open.
#[cfg(any(feature = "http", feature = "proxy"))]
pub(crate) fn environment_token<T>() -> crate::Result<Option<T>>
where
    T: std::str::FromStr<Err = &'static str>,
{
    const NAME: &str = "LCP_TOKEN";
    let Some(token) = std::env::var_os(NAME) else { return Ok(None) };
    let token = token.to_str().unwrap_or_default().parse().map_err(|error| {
        Error::new(ErrorKind::Usage, format!("invalid value of {NAME}: {error}"))
            .with_hint(format!("set {NAME} to a token, or unset it"))
    })?;
    Ok(Some(token))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    fn usage(line: &str) -> (String, Option<String>) {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let error = Cli::try_parse_from(&words).unwrap_err();
        let Error { message, hint, .. } = usage_error(&error, &Cli::command(), &words);
        (message, hint)
    }

    #[test]
    fn usage_errors_have_one_line() {
        let (message, hint) = usage("lcp render a.lcp --mode other");
        assert_eq!(
            message,
            "invalid value 'other' for '--mode <MODE>' [possible values: xml, markdown, minimal]"
        );
        assert_eq!(hint, None);
    }

    #[test]
    fn hints_name_similar_subcommands_and_flags() {
        for (line, expected) in [
            ("lcp rendr", Some("did you mean `render` or `append`?")),
            ("lcp unrendr", Some("did you mean `render`?")),
            ("lcp render a.lcp --budgt 3", Some("did you mean `--budget`?")),
            ("lcp session lst", Some("did you mean `list`?")),
            ("lcp count a --encoding gpt-4", Some("pass a model with --model: `--model gpt-4`")),
            ("lcp count a --encoding other", None),
            ("lcp render a --budget 8k", Some("write the number in digits: 8000")),
            ("lcp render a --budget k", None),
        ] {
            assert_eq!(usage(line).1.as_deref(), expected, "{line}");
        }
    }

    #[cfg(feature = "full")]
    #[test]
    fn missing_arguments_name_the_flag_that_requires_them() {
        for (line, message, hint) in [
            (
                "lcp render a.lcp --expand s1",
                "--expand requires --segments",
                "pass --segments as well, or omit --expand",
            ),
            (
                "lcp session record a --skip=5", "--skip requires <FILE>",
                "pass <FILE> as well, or omit --skip",
            ),
            (
                "lcp render --mode xml", "missing argument: <PACK>",
                "pass --help to list the arguments",
            ),
        ] {
            assert_eq!(usage(line), (message.to_owned(), Some(hint.to_owned())), "{line}");
        }
    }

    #[test]
    fn hints_give_the_equals_sign() {
        for (line, expected) in [
            ("lcp render a.lcp --fill maybe", Some("--fill=maybe")),
            ("lcp render --fill off a.lcp", Some("--fill=off")),
            ("lcp render --fill a.lcp b.lcp", None),
        ] {
            let hint = expected
                .map(|flag| format!("write the value of --fill with an equals sign: `{flag}`"));
            assert_eq!(usage(line).1, hint, "{line}");
        }
    }
}
