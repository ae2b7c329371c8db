//! The arguments of a command, and what is wrong with them, in one line.

use std::io::Write as _;

use clap::Parser;
use clap::error::ErrorKind;

use crate::failure::{Code, Failure, Output};
use crate::files;

/// What the arguments say.
///
/// # Errors
///
/// Arguments that cannot be, and how errors are to be printed then. Help and the
/// version end the process, unless they cannot be printed.
pub fn parse<P: Parser>() -> Result<P, (Failure, Output)> {
    P::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            match files::written(printed) {
                Ok(_) => std::process::exit(0),
                Err(failure) => (failure, Output::asked_for(std::env::args_os())),
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => (failure(&error.render().to_string()), Output::asked_for(std::env::args_os())),
    })
}

/// From what clap would print: a line or more, perhaps tips, then the usage.
fn failure(said: &str) -> Failure {
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let lines = said.lines().take_while(|line| {
        !line.starts_with("Usage: ") && !line.starts_with("For more information, ")
    });
    let (tips, what): (Vec<_>, Vec<_>) = lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .partition(|line| line.starts_with("tip: "));
    let failure = Failure::new(Code::Usage, what.join(" "));
    let tips: Vec<_> = tips.iter().map(|tip| tip.trim_start_matches("tip: ")).collect();
    if tips.is_empty() { failure } else { failure.hint(tips.join("; ")) }
}

/// A number of tokens.
pub fn tokens(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("a number of tokens from 0 to {} is wanted", u32::MAX))
}

/// A number of bytes, as `4096`, `500k` or `2M`: a letter stands for 1,024 of what is
/// before it.
pub fn bytes(value: &str) -> Result<u64, String> {
    const UNITS: [(char, u32); 4] = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let end = value.chars().next_back().map(|unit| unit.to_ascii_lowercase());
    let unit = UNITS.iter().find(|(unit, _)| Some(*unit) == end);
    let (number, shift) = match unit {
        Some((_, shift)) => (&value[..value.len() - 1], *shift),
        None => (value, 0),
    };
    let number = number.parse::<u64>().ok().filter(|_| !number.starts_with('+'));
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "a number of bytes is wanted, such as 4096, 500k or 2M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        for (text, wanted) in [("1", 1), ("500k", 512_000), ("2M", 2 << 20), ("1g", 1 << 30)] {
            assert_eq!(bytes(text), Ok(wanted), "{text}");
        }
        for text in ["", "0", "k", "-1", "+1", "1.5M", "1kk", "99999999999t", "1 k", "1ä"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_line_and_the_tips() {
        let said = "error: invalid value 'x' for '--mode <MODE>'\n  [possible values: a, b]\n\n  \
                    tip: one\n  tip: two\n\nUsage: c\n\nFor more information, try '--help'.\n";
        let failure = failure(said);
        let line = "invalid value 'x' for '--mode <MODE>' [possible values: a, b]";
        assert_eq!((failure.message.as_str(), failure.hint.as_deref()), (line, Some("one; two")));
    }
}
