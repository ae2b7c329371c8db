//! The page in a headless Chromium. These tests are skipped with a message if there is no browser,
//! and fail if the browser fails.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lcp_driver::report::to_html;
use lcp_driver::{Plan, RenderDecision, ShareUsage, Warning, WarningCode};

use super::super::{by_value, share};
use super::{large_plan, plan};

const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The time after which a hanging browser is stopped.
const TIMEOUT: Duration = Duration::from_secs(120);

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path)
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped: no {} in PATH, so the page was not run", NAMES.join(", "));
        }
    }
    found
}

/// Returns the document that the page's script created, at an address that ends in `fragment`.
/// Returns `None` without a browser.
#[track_caller]
fn dom(page: &str, fragment: &str) -> Option<String> {
    let browser = browser()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    fs::write(&file, page).unwrap();
    for _ in 0..3 {
        let profile = tempfile::tempdir().unwrap();
        let out = folder.path().join("dom.html");
        let child = Command::new(&browser)
            .args([
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            ])
            .args([
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
            ])
            .args(["--disable-dev-shm-usage", "--disable-extensions", "--disable-breakpad"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--window-size=1200,1600", "--virtual-time-budget=10000", "--dump-dom"])
            .arg(format!("file://{}{fragment}", file.display()))
            .stdout(File::create(&out).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let status = wait(child);
        let dom = fs::read_to_string(&out).unwrap();
        // A browser that was ended by a signal says nothing about the page, so the run is repeated.
        if status.code().is_none() {
            continue;
        }
        assert!(status.success(), "{status}");
        let root = &dom[dom.find("<html").unwrap()..];
        let root = &root[..root.find('>').unwrap()];
        assert!(!root.contains("data-error"), "{root}");
        assert!(root.contains("data-ready=\"true\""), "the script did not end: {root}");
        return Some(dom);
    }
    panic!("the browser ended by a signal, three times");
}

fn wait(mut child: std::process::Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > TIMEOUT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser did not end within {TIMEOUT:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the text at the beginning of the element with an id.
#[track_caller]
fn text<'d>(dom: &'d str, id: &str) -> &'d str {
    let (_, behind) = dom.split_once(&format!("id=\"{id}\"")).expect(id);
    let (_, text) = behind.split_once('>').unwrap();
    text.split_once('<').unwrap().0
}

/// Returns the values of an attribute of the elements that begin with `begins`.
fn values<'d>(dom: &'d str, begins: &str, attribute: &str) -> Vec<&'d str> {
    let attribute = format!(" {attribute}=\"");
    dom.split(begins)
        .skip(1)
        .filter_map(|element| {
            let tag = element.split_once('>')?.0;
            let (_, value) = tag.split_once(&attribute)?;
            Some(value.split_once('"')?.0)
        })
        .collect()
}

fn rows<'d>(dom: &'d str, attribute: &str) -> Vec<&'d str> {
    values(dom, "<tr", attribute)
}

fn group_thousands(number: u32) -> String {
    let (thousands, rest) = (number / 1_000, number % 1_000);
    if thousands == 0 { rest.to_string() } else { format!("{thousands},{rest:03}") }
}

#[track_caller]
fn check_figures(dom: &str, plan: &Plan) {
    assert_eq!(text(dom, "used"), group_thousands(plan.used_tokens));
    assert_eq!(text(dom, "budget"), plan.budget.map_or("None".to_owned(), group_thousands));
    let shown = plan.items.iter().filter(|item| item.decision.has_content()).count();
    assert_eq!(text(dom, "blocks-shown"), shown.to_string());
    assert_eq!(text(dom, "exact"), "Exact");
}

#[test]
fn page_shows_the_plan() {
    let this = plan(Some(1_000));
    let page = to_html(&this, &[plan(Some(300)), plan(None)]);
    let Some(dom) = dom(&page, "#sort=index&metadata=true") else { return };
    check_figures(&dom, &this);
    assert_eq!(text(&dom, "remaining"), group_thousands(this.remaining_tokens()));
    let decisions: Vec<_> = this.items.iter().map(|item| item.decision.name()).collect();
    assert_eq!(rows(&dom, "data-decision"), decisions);
    let reasons: Vec<_> = this.items.iter().map(|item| item.reason.name()).collect();
    assert_eq!(rows(&dom, "data-reason"), reasons);
    let shares: Vec<_> = this.shares.iter().map(|share| share.name.as_str()).collect();
    assert_eq!(values(&dom, "<div class=\"row\"", "data-share"), shares);
    // There is a cell for each block with tokens, and one for the envelope.
    let cells = values(&dom, "<div class=\"cell", "data-d");
    let with_tokens = this.items.iter().filter(|item| item.tokens > 0).count();
    assert!(cells.len() > 1 && cells.len() <= with_tokens + 1, "{cells:?}");
    let suggestion = this.suggestion().unwrap().replacen("a budget", "A budget", 1);
    assert!(dom.contains(&format!("{suggestion}.")), "the suggestion");
    assert_eq!(text(&dom, "count"), format!("{} blocks", this.items.len()));
    assert!(dom.contains("More detail does not fit in the budget."));
    assert_eq!(values(&dom, "<input type=\"range\"", "max"), ["2"]);
    assert!(text(&dom, "replaying").starts_with("This run: "));
    assert!(dom.contains("&lt;/script&gt;&lt;img") && !dom.contains("<img"), "labels are text");
}

#[test]
fn url_fragment_sets_budget_and_sort_order() {
    let (this, small) = (plan(Some(1_000)), plan(Some(300)));
    let page = to_html(&this, &[small.clone(), plan(None)]);
    let Some(dom) = dom(&page, "#budget=310&sort=full&dir=asc&metadata=true") else { return };
    check_figures(&dom, &small);
    let mut order: Vec<_> = (0..small.items.len()).collect();
    order.sort_by_key(|i| small.items[*i].full_tokens);
    let order: Vec<_> = order.iter().map(ToString::to_string).collect();
    assert_eq!(rows(&dom, "data-index"), order);
    let sorted = dom.split("<th ").find(|th| th.contains("data-key=\"full\"")).unwrap();
    assert!(sorted.split_once('>').unwrap().0.contains("aria-sort=\"ascending\""), "{sorted}");
    assert!(text(&dom, "replaying").starts_with("Replay: a budget of 300"));
}

/// Operates the page like a user: with the slider, the column buttons and the filters.
#[test]
fn controls_redraw_the_page() {
    let (this, large) = (plan(Some(300)), plan(None));
    let page = to_html(&this, std::slice::from_ref(&large));
    let act = "<script>
        const of = (id) => document.getElementById(id);
        of('slider').value = 1;
        of('slider').dispatchEvent(new Event('input'));
        document.querySelector('th[data-key=\"label\"] button').click();
        document.querySelector('th[data-key=\"label\"] button').click();
        of('text').value = 'SRC/';
        of('text').dispatchEvent(new Event('input'));
        document.querySelector('[data-size=\"full\"]').click();
        of('theme').click();
    </script></body>";
    let Some(dom) = dom(&page.replace("</body>", act), "") else { return };
    check_figures(&dom, &large);
    assert_eq!(rows(&dom, "data-index"), ["0", "1"], "src/main.rs, then src/engine.rs");
    assert!(dom.contains("data-theme=\"light\""));
    assert!(dom.contains("<button type=\"button\" data-size=\"full\" aria-pressed=\"true\">"));
    let sorted = dom.split("<th ").find(|th| th.contains("data-key=\"label\"")).unwrap();
    assert!(sorted.split_once('>').unwrap().0.contains("aria-sort=\"descending\""), "{sorted}");
    assert_eq!(text(&dom, "count"), format!("2 of {} blocks", large.items.len() - METADATA));
}

/// The number of blocks in the pack that only describe others.
const METADATA: usize = 4;

#[test]
fn metadata_is_listed_only_on_request() {
    let this = plan(Some(1_000));
    let is_metadata = |item: &lcp_driver::PlanItem| item.decision == RenderDecision::Metadata;
    assert_eq!(this.items.iter().filter(|item| is_metadata(item)).count(), METADATA);
    let page = to_html(&this, &[]);
    let Some(without) = dom(&page, "") else { return };
    assert!(!rows(&without, "data-decision").contains(&"metadata"));
    assert_eq!(text(&without, "count"), format!("{} blocks", this.items.len() - METADATA));
    let check = "<script>document.getElementById('metadata').click();</script></body>";
    let with = dom(&page.replace("</body>", check), "").unwrap();
    assert_eq!(rows(&with, "data-decision").len(), this.items.len());
    // The filter for decisions and one for an index also list them.
    let only = dom(&page, "#decision=metadata").unwrap();
    assert_eq!(rows(&only, "data-decision"), ["metadata"; METADATA]);
    let last = this.items.iter().rposition(is_metadata).unwrap().to_string();
    let one = dom(&page, &format!("#text=%23{last}")).unwrap();
    assert_eq!(rows(&one, "data-index"), [&last]);
}

/// Returns the names below the columns of a replay.
fn column_names(dom: &str) -> Vec<(usize, &str)> {
    let strip = dom.split_once("id=\"strip\"").unwrap().1.split_once("id=\"slider\"").unwrap().0;
    let names = strip.split("<b>").skip(1).map(|b| b.split_once('<').unwrap().0);
    names.enumerate().filter(|(_, name)| !name.is_empty()).collect()
}

#[test]
fn replay_columns_are_labelled_at_even_steps() {
    for columns in [2, 13, 26, 61, 240] {
        let of = |i: u32| plan(Some(100 + i * 12_345));
        let first = of(0);
        let replay: Vec<_> = (1..columns)
            .map(|i| Plan { budget: Some(100 + i * 12_345), ..first.clone() })
            .collect();
        let Some(dom) = dom(&to_html(&first, &replay), "") else { return };
        let names = column_names(&dom);
        let last = columns as usize - 1;
        assert_eq!(names.last().unwrap().0, last, "the last one has a name");
        assert!(names.len() >= columns.min(6) as usize && names.len() <= 26, "{names:?}");
        let (places, texts): (Vec<_>, Vec<_>) = names.into_iter().unzip();
        let step = places[1] - places[0];
        assert!([1, 2, 5, 10, 20].contains(&step), "{columns}: {step}");
        let even = &places[..places.len() - 1];
        assert!(even.windows(2).all(|pair| pair[1] - pair[0] == step), "{places:?}");
        assert!(last - even[even.len() - 1] >= step, "{places:?}");
        assert!(texts.windows(2).all(|pair| pair[0] != pair[1]), "{texts:?}");
    }
}

#[test]
fn tokens_over_cap_and_borrowed_tokens_are_distinct() {
    let mut this = plan(Some(1_000));
    this.shares[0] = ShareUsage { cap: Some(400), ..share("tool_results", 500, 300) };
    this.shares[1] = share("open_files", 2_996, 3_000);
    let Some(dom) = dom(&to_html(&this, &[]), "") else { return };
    assert!(dom.contains(" · 100 borrowed · 100 over its cap"));
    assert!(dom.contains("<i class=\"over\""));
    assert!(dom.contains(" / 3,000 · 99%"), "not all of it");
}

#[test]
fn value_plan_shows_its_optimality_gap() {
    let Some(dom) = dom(&to_html(&by_value(123_456, 123_999), &[]), "") else { return };
    assert_eq!(text(&dom, "value"), "123,456");
    assert!(dom.contains("of at most 123,999 (gap 0.44%)") && dom.contains(">by value<"));
}

#[test]
#[cfg(feature = "serde")]
fn stable_plan_shows_reuse_and_repack_reason() {
    use super::super::stable::{appended, repacked};

    let of = |stable| Plan { stable: Some(stable), ..plan(Some(1_000)) };
    let Some(kept) = dom(&to_html(&of(appended()), &[]), "") else { return };
    assert_eq!((text(&kept, "kept"), text(&kept, "prefix")), ("100%", "72,900"));
    assert!(kept.contains("tokens, 301,122 bytes") && !kept.contains("id=\"repacked\""));
    let anew = dom(&to_html(&of(repacked()), &[]), "").unwrap();
    assert_eq!(text(&anew, "kept"), "2%");
    assert!(
        anew.contains("id=\"repacked\"")
            && anew.contains("would have exceeded the high watermark of 90,000 tokens")
    );
    let without = dom(&to_html(&plan(Some(1_000)), &[]), "").unwrap();
    assert!(!without.contains("id=\"kept\"") && !without.contains("id=\"value\""));
}

#[test]
fn duplicates_link_to_their_covering_blocks() {
    let page = to_html(&super::super::duplicates::plan(), &[]);
    let Some(all) = dom(&page, "#sort=index") else { return };
    assert_eq!(text(&all, "saved"), "1,571");
    assert_eq!(text(&all, "dedup-said"), "2 removed, 0 merged, 1 superseded: 1,571 tokens saved");
    let each: Vec<_> = all.split("<tr data-index=").skip(1).collect();
    assert!(each[0].contains("Covers <button") && each[0].contains("data-to=\"3\""), "{}", each[0]);
    assert!(each[2].contains("Equal: covered by <button") && each[2].contains("src/a.rs"));
    assert!(each[4].contains("Superseded: covered by ") && each[4].contains("1,090 tokens saved"));
    assert!(!each[1].contains("class=\"cover\""), "neither covers nor is covered");
    let indices = |fragment: &str| {
        let filtered = dom(&page, &format!("#sort=index&cover={fragment}")).unwrap();
        rows(&filtered, "data-index").join(" ")
    };
    assert_eq!(indices("covered"), "2 3 4");
    assert_eq!(indices("covering"), "0 5");
    assert_eq!(indices("superseded"), "4");
    assert_eq!(indices("unheard"), "0 1 2 3 4 5");
    // A click on the covering block's link shows that block.
    let act =
        "<script>document.querySelector('[data-index=\"4\"] [data-to]').click();</script></body>";
    let one = dom(&page.replace("</body>", act), "#cover=covered").unwrap();
    assert_eq!(rows(&one, "data-index"), ["5"]);
}

#[test]
fn duplicate_controls_are_hidden_without_duplicates() {
    let Some(dom) = dom(&to_html(&plan(Some(1_000)), &[]), "") else { return };
    assert!(!dom.contains("id=\"saved\""));
    for id in ["dedup", "cover-label"] {
        let (_, tag) = dom.split_once(&format!("id=\"{id}\"")).unwrap();
        assert!(tag.split_once('>').unwrap().0.contains("hidden"), "{id}");
    }
}

#[test]
fn page_lists_decision_reasons() {
    let this = plan(Some(1_000));
    let Some(dom) = dom(&to_html(&this, &[]), "") else { return };
    let card = dom.split_once("id=\"reasons\"").unwrap().1.split_once("</section>").unwrap().0;
    assert!(card.contains(">Over budget<") && card.contains(">Metadata<"), "{card}");
}

#[test]
fn fill_percentage_is_rounded_down() {
    let mut this = large_plan(2, 2_000);
    (this.items[0].tokens, this.items[1].tokens) = (1_000, 996);
    this.used_tokens = 1_996;
    let Some(dom) = dom(&to_html(&this, &[]), "") else { return };
    assert_eq!(text(&dom, "fill"), "99%");
}

#[test]
fn large_plans_are_listed_and_drawn_partially() {
    let this = large_plan(12_000, 900_000);
    let page = to_html(&this, &[large_plan(12_000, 200_000)]);
    let Some(dom) = dom(&page, "") else { return };
    assert_eq!(rows(&dom, "data-index").len(), 100);
    assert_eq!(text(&dom, "count"), "12,000 blocks, the first 100 shown");
    let cells = values(&dom, "<div class=\"cell", "data-d").len();
    assert!((20..3_000).contains(&cells), "{cells}");
    assert!(dom.contains("class=\"cell rest\""), "small ones are put together");
}

#[test]
fn excess_categories_are_merged_on_the_page() {
    let mut this = large_plan(2_000, 500_000);
    for (i, item) in this.items.iter_mut().enumerate() {
        item.category = format!("category_{i}").into();
    }
    let Some(dom) = dom(&to_html(&this, &[]), "") else { return };
    assert_eq!(values(&dom, "<div class=\"row\"", "data-share").len(), 40);
    assert_eq!(dom.matches("<div class=\"part\"").count(), 40);
    assert!(dom.contains("1,961 more"));
}

#[test]
fn excess_warnings_are_counted() {
    let warning = |i| Warning::new(WarningCode::NonUtf8Content, Some(i), "not <UTF-8>\u{202e}");
    let warnings = (0..2_000).map(warning).collect();
    let this = Plan { warnings, ..super::empty_plan(100, 0) };
    let Some(dom) = dom(&to_html(&this, &[]), "") else { return };
    assert!(dom.contains("<strong>2,000 warnings</strong>"));
    assert!(dom.contains("not &lt;UTF-8&gt;\\u{202e} (block 99)"));
    assert!(!dom.contains("(block 100)") && dom.contains("and 1,900 more"));
}

#[test]
fn empty_plan_has_a_page() {
    let page = to_html(&super::empty_plan(100, 0), &[]);
    let Some(dom) = dom(&page, "") else { return };
    assert_eq!((text(&dom, "used"), text(&dom, "count")), ("0", "0 blocks"));
    assert!(dom.contains("The text is empty."));
    assert!(dom.contains("<div class=\"map bare\""), "no large map of nothing");
    assert!(
        dom.split_once("id=\"replay\"").unwrap().1.split_once('>').unwrap().0.contains("hidden")
    );
}
