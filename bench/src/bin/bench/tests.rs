use super::*;
use lcp_bench::table::{Better, Row, Wanted};

fn report(bench: &'static str, what: &str) -> Report {
    let row = Row::new(what, Better::Lower, "ms", 1234.5, "itself", f64::NAN);
    let row = row.wants(Wanted::RatioAtMost(3.0)).notes(Some("left out".to_owned()));
    Report { bench, rows: vec![row] }
}

#[test]
fn results_take_the_place_of_those_before() {
    let document = format!("# Title\n{BEGIN}{END}The end.\n");
    let written = write(&document, &report("plan", "a|b")).unwrap();
    assert!(written.starts_with("# Title\n") && written.ends_with("The end.\n"));
    let row = "| a\\|b | 1234 ms | itself | – ms | – | &lt;= 3.0 | **no** |\n";
    assert!(written.contains(row), "{written}");
    let both = write(&written, &report("fill", "first")).unwrap();
    assert!(both.contains(row) && both.contains("| first |"), "{both}");
    let peer = Row::new("c", Better::Lower, "ms", 1234.5, "itself", 0.5);
    let rows = vec![peer.wants(Wanted::RatioAtLeast(3.0))];
    let with_peer = write(&document, &Report { bench: "plan", rows }).unwrap();
    assert!(with_peer.contains("| 1234 ms | itself | 0.500 ms |"), "{with_peer}");
    let again = write(&both, &report("plan", "second")).unwrap();
    assert!(!again.contains(row) && again.contains("| second |"), "{again}");
    assert!(again.contains("| first |") && again.ends_with("The end.\n"));
    assert_eq!(write("no place", &report("plan", "")), None);
}
