//! The charts in `docs/images` show the tables of `docs/benchmarks.md`.

use std::path::Path;

use lcp_bench::results::charts;

#[test]
fn charts_match_the_benchmark_tables() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let document = std::fs::read_to_string(docs.join("benchmarks.md")).unwrap();
    let charts = charts(&document);
    assert_eq!(charts.len(), document.matches("](images/bench-").count());
    for (path, svg) in charts {
        let file = path.file_name().unwrap().to_str().unwrap();
        assert!(document.contains(&format!("](images/{file})\n")), "{file} is not shown");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, svg).unwrap();
        } else {
            let drawn = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(drawn == svg, "{file} is not the chart of its table: UPDATE_EXPECT=1 draws it");
        }
    }
}
