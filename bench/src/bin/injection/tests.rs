use super::*;

#[test]
fn lcp_gives_every_file_back() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(repository::NAME);
    let all = repository::files();
    repository::write(&folder, &all).unwrap();
    for row in lcp(&folder, &all).unwrap() {
        assert_eq!((row.exact, row.forged, &row.missing), (all.len(), 0, &None), "{row:?}");
    }
}

#[test]
fn what_is_there_once_too_often_is_forged() {
    let all = [File::new("a", "1\n"), File::new("b", "2\n"), File::new("c", "3\n")];
    let entries = [("a", "1\n"), ("a", "x"), ("b", "2"), ("d", "")];
    let entries = entries.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
    let row = Row::new("p", "f", Ok(entries), &all);
    assert_eq!((row.back, row.exact, row.forged), (2, 1, 2));
}
