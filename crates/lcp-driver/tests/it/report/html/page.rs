//! The HTML report as text.

use lcp_driver::report::to_html;
use lcp_driver::{Plan, Verbosity, Warning, WarningCode};
use serde_json::json;

use super::super::by_value;
use super::{HOSTILE, data, empty_plan, large_plan, plan};

#[test]
fn page_is_self_contained() {
    let page = to_html(&plan(Some(1_000)), &[]);
    assert!(page.contains("content=\"default-src 'none'; "));
    for word in
        ["http:", "https:", "url(", "@import", " src=\"", "<link", "import(", "fetch(", "innerHTML"]
    {
        assert!(!page.contains(word), "{word}");
    }
    assert!(!page.contains("{{"), "every part of the template is filled in");
}

#[test]
fn pack_labels_cannot_inject_html() {
    let page = to_html(&plan(Some(1_000)), &[]);
    assert_eq!(page.matches("</script>").count(), 2, "the page's own");
    assert!(!page.contains("<img") && !page.contains("<b>bold"));
    let label = data(&page)["blocks"]["label"][4].as_str().unwrap().to_owned();
    assert_eq!(label, HOSTILE.replace('\u{202e}', "\\u{202e}"));
}

#[test]
fn replay_plans_are_sorted_by_budget() {
    let this = plan(Some(1_000));
    let fewer = Plan { items: Vec::new(), ..plan(Some(700)) };
    let page = to_html(&this, &[plan(None), plan(Some(1_000)), plan(Some(200)), fewer]);
    let data = data(&page);
    let budgets: Vec<_> =
        data["plans"].as_array().unwrap().iter().map(|plan| plan["budget"].as_u64()).collect();
    assert_eq!(budgets, [Some(200), Some(1_000), None]);
    assert_eq!(data["current"], 1);
    for plan in data["plans"].as_array().unwrap() {
        let tokens: u64 =
            plan["t"].as_array().unwrap().iter().map(|tokens| tokens.as_u64().unwrap()).sum();
        assert_eq!(tokens + plan["overhead"].as_u64().unwrap(), plan["used"]);
    }
}

#[test]
fn page_size_is_bounded_for_many_blocks() {
    let page = to_html(&large_plan(10_000, 100_000), &[]);
    assert!(page.len() < 10_000 * 50 + 64 * 1024, "{} bytes", page.len());
}

#[test]
fn long_names_and_messages_are_shortened() {
    let name = "x".repeat(100_000);
    let mut this = plan(Some(1_000));
    let usual = to_html(&this, &[]).len();
    this.items[0].category = name.clone().into();
    this.items[1].label = name.clone().into();
    this.shares[0].name.clone_from(&name);
    this.encoding.clone_from(&name);
    this.warnings.push(Warning::new(WarningCode::UnknownCategory, None, name));
    assert!(to_html(&this, &[]).len() < usual + 2_000);
}

/// Numbers that exceed a script's precision are strings.
#[test]
fn large_values_are_exact_strings() {
    let page = to_html(&by_value(u64::MAX - 2, u64::MAX - 1), &[]);
    let data = data(&page);
    assert_eq!(data["objective"], "value");
    let quality = "of at most 18,446,744,073,709,551,614 (gap 0.01%)";
    assert_eq!(data["plans"][0]["value"], json!(["18,446,744,073,709,551,613", quality]));
}

#[test]
fn replay_is_absent_if_the_budget_has_no_effect() {
    let full = |budget| Plan { verbosity: Verbosity::Full, ..plan(budget) };
    let summary = |budget| Plan { verbosity: Verbosity::Summary, ..plan(budget) };
    let empty = |budget| empty_plan(budget, 0);
    for (this, other) in [
        (full(Some(1_000)), full(None)),
        (summary(Some(1_000)), summary(Some(300))),
        (empty(100), empty(200)),
    ] {
        let page = to_html(&this, &[other]);
        assert_eq!(data(&page)["plans"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn colour_contrast_is_at_least_4_5() {
    let page = to_html(&plan(None), &[]);
    let mut pairs = 0;
    for line in page.lines().filter(|line| line.contains("--c: #") && line.contains("--on: #")) {
        let color = |name: &str| {
            let (_, value) = line.split_once(name).unwrap();
            luminance(&value[..6])
        };
        let (a, b) = (color("--c: #"), color("--on: #"));
        let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
        assert!(contrast >= 4.5, "{contrast:.2}: {line}");
        pairs += 1;
    }
    assert!(pairs >= 8, "{pairs}");
}

/// Returns the relative luminance of `rrggbb`, as defined by WCAG.
fn luminance(color: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}
