use super::*;

fn record(compiler: &str, count: u64) -> Record {
    let instructions = vec![("decode".to_owned(), count)];
    Record { compiler: compiler.into(), profile: "dev".into(), instructions }
}

#[test]
fn more_instructions_fail_and_fewer_pass() {
    let recorded = record("1.95", 1_000);
    compare(&recorded, &record("1.95", 1_029)).unwrap();
    compare(&recorded, &record("1.95", 500)).unwrap();
    let error = compare(&recorded, &record("1.95", 1_031)).unwrap_err();
    assert!(error.to_string().starts_with("decode costs 3.1 % more instructions"));
    assert!(error.to_string().contains("hint: "));
    // Counts of another compiler are not compared.
    compare(&recorded, &record("1.96", 9_000)).unwrap();
}

#[test]
fn new_counts_need_a_reason() {
    check_reason("").unwrap();
    check_reason("driver: plan in one pass\n\nRendering takes 9 % fewer instructions.\n").unwrap();
    let error = check_reason("driver: plan in one pass\n").unwrap_err();
    assert!(error.to_string().contains("hint: amend the message"));
}
