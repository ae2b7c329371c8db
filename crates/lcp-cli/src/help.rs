//! How `lcp --help` lists the subcommands: in groups (RFC 0010 §2).

use clap::Subcommand as _;

use crate::Command;

/// The groups, and the subcommands of each in their order.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Make packs", &["pack", "import", "encode", "merge", "append", "recover", "dedup"]),
    ("Show them", &["render", "report", "export", "cat", "decode", "parse"]),
    ("Look into them", &["inspect", "validate", "stats", "diff", "count", "config"]),
    ("Sessions", &["session"]),
    ("Serve", &["mcp"]),
    ("Shell", &["completions", "man", "help"]),
];

/// The template of the help: the groups in place of one list.
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
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}")
}

const HELP: &str = "Print this, or the help of a subcommand";

/// Returns the subcommands that are not former names.
fn visible(commands: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    commands.get_subcommands().filter(|command| !command.is_hide_set())
}

/// The groups, and what is in none of them.
fn groups(commands: &clap::Command) -> Vec<(&'static str, Vec<&str>)> {
    let mut groups: Vec<_> = GROUPS.iter().map(|(group, names)| (*group, names.to_vec())).collect();
    let names = visible(commands).map(clap::Command::get_name);
    let others = names.filter(|name| !GROUPS.iter().any(|(_, names)| names.contains(name)));
    groups.push(("Others", others.collect()));
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
        assert!(!template.contains("Others:"), "{template}");
        assert!(template.find("Make packs:") < template.find("Look into them:"), "{template}");
    }
}
