//! Parsing of command-line arguments, with usage errors of one line.

use std::io::Write as _;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind as ClapErrorKind;
use lcp_app::names::{current, value_of};
use lcp_app::{Error, ErrorKind};

use crate::files;
use crate::output::Output;

/// Parses the arguments of this process.
///
/// # Errors
///
/// Returns an error of the kind `Usage` if the arguments are invalid, and the [`Output`] to print
/// it with. `--help` and `--version` end the process, unless printing fails: that is an error too.
pub fn parse<P: Parser>() -> Result<P, (Error, Output)> {
    P::try_parse().map_err(|error| match error.kind() {
        ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            match files::to_stdout_result(printed) {
                Ok(_) => std::process::exit(0),
                Err(failure) => (failure, Output::from_raw_arguments(std::env::args_os())),
            }
        }
        ClapErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => (
            usage_error(&error.render().to_string()),
            Output::from_raw_arguments(std::env::args_os()),
        ),
    })
}

/// Converts an error message of clap to an error of one line. Clap prints one or more lines of
/// text, optional tips, and the usage. The tips become the hint.
fn usage_error(said: &str) -> Error {
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let lines = said.lines().take_while(|line| {
        !line.starts_with("Usage: ") && !line.starts_with("For more information, ")
    });
    let (tips, what): (Vec<_>, Vec<_>) = lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .partition(|line| line.starts_with("tip: "));
    let failure = Error::new(ErrorKind::Usage, what.join(" "));
    let tips: Vec<_> = tips.iter().map(|tip| tip.trim_start_matches("tip: ")).collect();
    if tips.is_empty() { failure } else { failure.with_hint(tips.join("; ")) }
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

/// Returns a parser that maps `on` to `true` and `off` to `false`.
pub fn on_off() -> impl TypedValueParser<Value = bool> {
    by_name([("on", true), ("off", false)])
}

/// Parses a number of tokens.
pub fn parse_tokens(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("expected a number of tokens from 0 to {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_error_becomes_one_line_and_a_hint() {
        let said = "error: invalid value 'x' for '--mode <MODE>'\n  [possible values: a, b]\n\n  \
                    tip: one\n  tip: two\n\nUsage: c\n\nFor more information, try '--help'.\n";
        let failure = usage_error(said);
        let line = "invalid value 'x' for '--mode <MODE>' [possible values: a, b]";
        assert_eq!((failure.message.as_str(), failure.hint.as_deref()), (line, Some("one; two")));
    }
}
