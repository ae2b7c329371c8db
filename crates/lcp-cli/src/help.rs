//! The template of `lcp --help`, which lists the subcommands in groups (RFC 0010 §2).

use clap::Subcommand as _;

use crate::Command;

/// The headings of the groups, each with its subcommands in order.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Create", &["pack", "import", "encode", "merge", "append", "annotate", "recover", "dedup"]),
    ("Render", &["rank", "render", "report", "export", "cat", "decode", "parse"]),
    ("Inspect", &["inspect", "validate", "stats", "diff", "count", "config"]),
    ("Sessions", &["session"]),
    ("Serve", &["mcp", "run", "proxy"]),
    ("Agents", &["setup", "hook"]),
    ("Shell", &["completions", "man", "help"]),
];

/// Returns the clap help template, with the groups in place of clap's single list.
pub fn template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("lcp"));
    let about = |name: &str| {
        let command = commands.get_subcommands().find(|command| command.get_name() == name)?;
        Some(command.get_about().map(ToString::to_string).unwrap_or_default())
    };
    let names = visible(&commands).map(clap::Command::get_name);
    let wide = names.map(str::len).max().unwrap_or_default();
    let mut listed = String::new();
    for (group, names) in groups(&commands) {
        let rows: Vec<_> = names
            .iter()
            .filter_map(|name| {
                let about = if *name == "help" { Some(HELP.to_owned()) } else { about(name) };
                about.map(|about| format!("  {name:wide$}  {about}\n"))
            })
            .collect();
        if !rows.is_empty() {
            listed.extend([format!("{group}:\n{}\n", rows.concat())]);
        }
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}{{after-help}}"
    )
}

/// The exit codes of all commands.
pub const EXIT_CODES: &str = "Exit codes:
  0  success
  1  a file or a store cannot be read or written
  2  wrong usage
  3  the input is malformed
  4  the text exceeds the budget, with --overflow deny
  5  a limit is exceeded";

const HELP: &str = "Print help for lcp or a subcommand";

/// Returns the subcommands that are not hidden (former names are hidden).
fn visible(commands: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    commands.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Returns the groups, followed by a group of all subcommands that no other group lists.
fn groups(commands: &clap::Command) -> Vec<(&'static str, Vec<&str>)> {
    let mut groups: Vec<_> = GROUPS.iter().map(|(group, names)| (*group, names.to_vec())).collect();
    let names = visible(commands).map(clap::Command::get_name);
    let others = names.filter(|name| !GROUPS.iter().any(|(_, names)| names.contains(name)));
    groups.push(("Other", others.collect()));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_listed_in_its_group() {
        let template = template();
        let commands = Command::augment_subcommands(clap::Command::new("lcp"));
        for command in visible(&commands) {
            assert!(template.contains(&format!("\n  {} ", command.get_name())), "{template}");
        }
        assert!(!template.contains("Other:"), "{template}");
        assert!(
            template.find("Create:").unwrap() < template.find("Inspect:").unwrap(),
            "{template}"
        );
    }
}
