use super::*;
use crate::table::{Better, Row, Wanted};

fn report(bench: &'static str, what: &str) -> Report {
    let row = Row::new(what, Better::Lower, "ms", 1234.5, "itself", f64::NAN);
    let row = row.wants(Wanted::RatioAtMost(3.0)).notes(Some("left out".to_owned()));
    Report { bench, rows: vec![row] }
}

#[test]
fn new_results_replace_the_previous_section() {
    let document = format!("# Title\n{BEGIN}{END}The end.\n");
    let written = replace(&document, &report("plan", "a|b")).unwrap();
    assert!(written.starts_with("# Title\n") && written.ends_with("The end.\n"));
    let row = "| a\\|b | 1234 ms | itself | – ms | – | &lt;= 3.0 | **no** |\n";
    assert!(written.contains(row), "{written}");
    let both = replace(&written, &report("fill", "first")).unwrap();
    assert!(both.contains(row) && both.contains("| first |"), "{both}");
    let peer = Row::new("c", Better::Lower, "ms", 1234.5, "itself", 0.5);
    let rows = vec![peer.wants(Wanted::RatioAtLeast(3.0))];
    let with_peer = replace(&document, &Report { bench: "plan", rows }).unwrap();
    assert!(with_peer.contains("| 1234 ms | itself | 0.500 ms |"), "{with_peer}");
    let again = replace(&both, &report("plan", "second")).unwrap();
    assert!(!again.contains(row) && again.contains("| second |"), "{again}");
    assert!(again.contains("| first |") && again.ends_with("The end.\n"));
    assert_eq!(replace("no place", &report("plan", "")), None);
}

#[test]
fn section_has_one_chart_between_title_and_table() {
    let image = "**`plan`**\n\n![Chart of plan: LCP compared with peers and limits](images/bench-plan.svg)\n\n\
                 | measurement |";
    // A section without a chart gets one.
    let document = format!("{BEGIN}**`plan`**\n\n| old |\n\n**`fill`**\n\n| old |\n\n{END}");
    let once = replace(&document, &report("plan", "a")).unwrap();
    assert!(once.contains(image) && once.ends_with(&format!("**`fill`**\n\n| old |\n\n{END}")));
    assert_eq!(replace(&once, &report("plan", "a")).unwrap(), once);
    let both = replace(&once, &report("fill", "a")).unwrap();
    let files: Vec<_> = charts(&both).into_iter().map(|(path, _)| path).collect();
    assert_eq!(files, ["plan", "fill"].map(|name| path(&format!("docs/images/bench-{name}.svg"))));
    assert!(!both.contains("| old |") && charts("no results").is_empty());
}
