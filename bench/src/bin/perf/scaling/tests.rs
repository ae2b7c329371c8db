use super::*;

/// An input that is missing or rejected at once would pass the growth check without any work.
#[test]
fn every_scaling_case_has_an_accepted_input() {
    for (at, (walk, name)) in walks().enumerate() {
        assert!(super::walk(at, 100, false), "{walk:?} of {name}");
    }
}

#[test]
fn superlinear_growth_is_an_error_naming_the_case() {
    // All cases grow linearly, except the second, which grows quadratically.
    let count = |arguments: &[String]| {
        let number = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name).unwrap_or_default();
            arguments[at + 1].parse::<u64>().unwrap_or_default()
        };
        let many = number("--count");
        Ok(if number("--scaling-case") == 1 { many * many } else { 10 * many })
    };
    let error = run(count).unwrap_err();
    assert_eq!(
        error.to_string(),
        "with 4 times the input: decode of a tree of empty entries takes 16.0 times the \
         instructions"
    );
}
