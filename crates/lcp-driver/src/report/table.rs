//! The report as a table for terminals.

mod sections;
pub(super) mod style;

use crate::fmt::{group_thousands, write_to};
use crate::plan::{Plan, ShareUsage};
use crate::window::ContextWindow;

use super::display_names::{describe_optimality, describe_repack, describe_reuse, display_name};
use super::metrics::{over_cap, percent};
use style::{BOLD, CYAN, DIM, bar, fit, pad};

const CATEGORIES_MAX: usize = 20;

/// The maximum number of characters of a category that is not shortened.
const CATEGORY_CHARS_MAX: usize = 32;

/// The layout of a table, and data that only the caller has.
///
/// ```
/// use lcp_driver::report::TableOptions;
///
/// let options = TableOptions { color: true, width: 120, ..TableOptions::default() };
/// assert_eq!(TableOptions::default().width, 80);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableOptions {
    /// If `true`, the table has colors, as ANSI escapes. Default: `false`.
    pub color: bool,
    /// The width of the terminal in columns. Default: 80. Bars and labels use the rest of each
    /// line; if no space remains, there are no bars.
    pub width: u16,
    /// The context window from which the budget was taken. Its size is shown as the total.
    pub window: Option<ContextWindow>,
    /// If `true`, the table lists the reasons for the ranks of the blocks whose content is shown.
    /// Default: `false`.
    pub explain: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { color: false, width: 80, window: None, explain: false }
    }
}

/// Formats the report on a plan as a table, with a final newline.
///
/// The table begins with the use by category, compared with the shares if there are any. The
/// savings of deduplication follow if it ran. Then come the sums by decision, reason and priority,
/// the largest cuts and duplicates, on request the reasons for the ranks of shown blocks, and a
/// suggestion if much was cut.
///
/// Percentages are rounded to the nearest integer, but only the exact whole is 100 %. Labels of
/// packs cannot move the cursor or hide other text: invisible characters are escaped, and long
/// labels are shortened.
///
/// ```
/// use lcp_driver::report::{TableOptions, to_table};
/// use lcp_driver::{DefaultDriver, DriverConfig};
/// use lcp_types::{Block, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi")];
/// let plan = DefaultDriver::default().plan(&blocks, &DriverConfig::default())?;
/// assert!(to_table(&plan, &TableOptions::default()).starts_with("Token Budget Report\n"));
/// # Ok::<(), lcp_driver::DriverError>(())
/// ```
#[must_use]
pub fn to_table(plan: &Plan, options: &TableOptions) -> String {
    let mut table = Table { plan, options, lines: Vec::new() };
    table.head();
    table.usage();
    table.total();
    table.objective();
    table.cache();
    table.dedup();
    if !plan.items.is_empty() {
        table.sections();
    }
    table.ending();
    let mut text = String::new();
    for line in table.lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

struct Table<'p> {
    plan: &'p Plan,
    options: &'p TableOptions,
    lines: Vec<String>,
}

/// A row of the use by category.
struct Usage {
    name: String,
    used: u64,
    limit: Option<u64>,
    total: u64,
    note: String,
}

impl Table<'_> {
    fn paint(&self, code: u8, text: &str) -> String {
        if self.options.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a heading, with an empty line before it.
    fn heading(&mut self, text: &str) {
        let heading = self.paint(BOLD, text);
        self.line("");
        self.line(heading);
    }

    fn head(&mut self) {
        let title = self.paint(BOLD, "Token Budget Report");
        let rule = self.paint(DIM, &"─".repeat(20));
        self.line(title);
        self.line(rule);
        let budget = self.plan.budget.map(|budget| group_thousands(budget.into()));
        let total = match self.options.window {
            Some(window) => group_thousands(window.tokens.into()),
            None => budget.clone().unwrap_or_else(|| "none".to_owned()),
        };
        self.line(format!("Total Budget: {total}"));
        if self.options.window.is_some()
            && let Some(budget) = budget
        {
            self.line(format!("Available: {budget}"));
        }
    }

    fn usage(&mut self) {
        let rows = self.usages();
        if rows.is_empty() {
            return;
        }
        self.heading("Category Usage:");
        let widest = |text: &dyn Fn(&Usage) -> String| {
            rows.iter().map(|row| text(row).chars().count()).max().unwrap_or_default()
        };
        let limit = |row: &Usage| row.limit.map(group_thousands).unwrap_or_default();
        let share = |row: &Usage| match percent(row.used, row.total) {
            Some(percent) => format!("({percent}%)"),
            None => "(–)".to_owned(),
        };
        let name_width = widest(&|row| row.name.clone()) + 2;
        let used_width = widest(&|row| group_thousands(row.used));
        let limit_width = widest(&limit);
        let share_width = widest(&share);
        let note_width = match widest(&|row| row.note.clone()) {
            0 => 0,
            width => width + 2,
        };
        for row in &rows {
            let mut line = format!("  {}", pad(&format!("{}:", row.name), name_width));
            write_to(&mut line, format_args!("  {:>used_width$}", group_thousands(row.used)));
            if limit_width > 0 {
                write_to(&mut line, format_args!(" / {:>limit_width$}", limit(row)));
            }
            write_to(&mut line, format_args!(" {}", pad(&share(row), share_width)));
            let room = self.room(line.chars().count() + 2 + note_width);
            if room > 0 {
                let bar = bar(row.used, row.total, room);
                write_to(&mut line, format_args!("  {}", self.paint(CYAN, &pad(&bar, room))));
            }
            if !row.note.is_empty() {
                write_to(&mut line, format_args!("  {}", row.note));
            }
            self.line(line);
        }
    }

    /// Returns a row for each share, or, without shares, a row for each category compared with all
    /// used tokens.
    fn usages(&self) -> Vec<Usage> {
        if !self.plan.shares.is_empty() {
            return self.plan.shares.iter().map(share_usage).collect();
        }
        let total = self.plan.used_tokens.into();
        let usage =
            |name: String, used| Usage { name, used, limit: None, total, note: String::new() };
        let mut sums = sections::by_category(self.plan);
        // A pack may have any number of categories.
        let rest = sums.split_off(sums.len().min(CATEGORIES_MAX));
        let mut rows: Vec<_> =
            sums.into_iter().map(|(name, sum)| usage(category(name), sum.tokens)).collect();
        if !rest.is_empty() {
            let tokens = rest.iter().map(|(_, sum)| sum.tokens).sum();
            rows.push(usage(format!("{} More", group_thousands(rest.len() as u64)), tokens));
        }
        rows
    }

    fn total(&mut self) {
        let used = u64::from(self.plan.used_tokens);
        let mut line = format!("Total Used: {}", group_thousands(used));
        if let Some(budget) = self.plan.budget {
            write_to(&mut line, format_args!(" / {}", group_thousands(budget.into())));
            if let Some(percent) = percent(used, budget.into()) {
                write_to(&mut line, format_args!(" ({percent}%)"));
            }
        }
        self.heading(&line);
    }

    fn objective(&mut self) {
        let Some(optimality) = &self.plan.optimality else { return };
        let (worth, quality) = (group_thousands(optimality.value), describe_optimality(optimality));
        let comma = if optimality.is_optimal() { "," } else { "" };
        self.line(format!("Objective: value {worth}{comma} {quality}"));
    }

    fn cache(&mut self) {
        let Some(stable) = &self.plan.stable else { return };
        self.heading("Cache:");
        if let Some(kept) = describe_reuse(stable) {
            self.line(format!("  Kept: {kept}"));
        }
        let (tokens, bytes) = (stable.prefix_tokens.into(), stable.prefix_bytes as u64);
        let (tokens, bytes) = (group_thousands(tokens), group_thousands(bytes));
        self.line(format!("  Prefix: {tokens} tokens ({bytes} bytes), cacheable"));
        if let Some(why) = describe_repack(stable) {
            self.line(format!("  {}: {why}", display_name(stable.reuse.name())));
        }
    }

    /// Returns the columns for a bar after `taken` columns; 0 if there is no space for a bar.
    fn room(&self, taken: usize) -> usize {
        const BAR_MIN: usize = 8;
        const BAR_MAX: usize = 24;
        let room = usize::from(self.options.width).saturating_sub(taken);
        if room < BAR_MIN { 0 } else { room.min(BAR_MAX) }
    }
}

fn category(name: &str) -> String {
    fit(&display_name(name), CATEGORY_CHARS_MAX)
}

fn share_usage(share: &ShareUsage) -> Usage {
    let mut notes = Vec::new();
    if let Some(cap) = share.cap {
        notes.push(format!("cap {}", group_thousands(cap.into())));
    }
    // Blocks without a share have no tokens of their own: everything they use is borrowed.
    if share.borrowed() > 0 && share.tokens > 0 {
        notes.push(format!("{} borrowed", group_thousands(share.borrowed().into())));
    }
    if over_cap(share) > 0 {
        notes.push(format!("{} over its cap", group_thousands(over_cap(share).into())));
    }
    Usage {
        name: if share.name.is_empty() { "No Share".to_owned() } else { category(&share.name) },
        used: share.used.into(),
        limit: Some(share.tokens.into()),
        total: share.tokens.into(),
        note: notes.join(", "),
    }
}
