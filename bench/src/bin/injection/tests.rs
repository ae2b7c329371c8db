use super::*;

#[test]
fn lcp_recovers_every_file_exactly() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(repository::NAME);
    let all = repository::files();
    repository::write(&folder, &all).unwrap();
    for row in lcp(&folder, &all).unwrap() {
        let complete = Counts { back: all.len(), exact: all.len(), forged: 0 };
        assert_eq!(row.counts, Ok(complete), "{}", row.form);
    }
}

#[test]
fn extra_entry_counts_as_forged() {
    let all = [File::new("a", "1\n"), File::new("b", "2\n"), File::new("c", "3\n")];
    let entries = [("a", "1\n"), ("a", "x"), ("b", "2"), ("d", "")];
    let entries = entries.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
    let row = Row::new("p", "f", Ok(entries), &all);
    assert_eq!(row.counts, Ok(Counts { back: 2, exact: 1, forged: 2 }));
}
