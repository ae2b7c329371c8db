//! Charts of results: an SVG picture of a table of `docs/benchmarks.md`.
//!
//! A chart is drawn from the Markdown of a table, so stored results need no second measurement. All
//! bars of a chart begin at 1× and share one logarithmic axis; further to the right is better.

mod bars;

use std::fmt::Write as _;

use bars::Bar;

/// The values at which an axis may begin, end and have a line. Every third is a power of ten. A
/// longer bar ends with an arrow.
const TICKS: [f64; 13] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The largest number of lines of an axis. With more ticks, only powers of ten have lines.
const LINES_MAX: usize = 10;

// Measures in pixels: the picture, the ends of the axis, the heights above, of and below the rows.
const WIDTH: usize = 880;
const AXIS: [f64; 2] = [400.0, 730.0];
const TOP: usize = 98;
const ROW: usize = 40;
const BOTTOM: usize = 56;

// Bars with a peer, bars without one, and bars whose limit is not met.
const PEER: &str = "#1f5fa8";
const ALONE: &str = "#6e7781";
const FAILED: &str = "#b3261e";

// Text, and text of less importance.
const DARK: &str = "#1f2328";
const GREY: &str = "#57606a";

/// Draws the chart of a benchmark from its Markdown table.
#[must_use]
pub fn draw(bench: &str, table: &str) -> String {
    let all = bars::bars(table);
    let count = all.len();
    let bars = bars::chosen(all);
    let axis = Axis::around(bars.iter().flat_map(|bar| [Some(bar.value), bar.limit]).flatten());
    let bottom = TOP + ROW * bars.len();
    let (height, one) = (bottom + BOTTOM, axis.x(1.0));
    let title = format!("{bench}: LCP compared with peers and limits");
    let described: Vec<_> = bars.iter().map(describe).collect();
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-labelledby="title desc" font-family="Helvetica, Arial, sans-serif">
<title id="title">{}</title>
<desc id="desc">{}</desc>
<rect width="{WIDTH}" height="{height}" fill="white"/>
"#,
        escaped(&title),
        escaped(&described.join("\n")),
    );
    text(&mut svg, (16.0, 28), 16, DARK, "start", &title);
    let legend = [
        (16.0, PEER, 12, "ratio to the strongest peer"),
        (222.0, ALONE, 12, "without a peer: distance to the limit"),
        (478.0, FAILED, 12, "limit not met"),
        (606.0, DARK, 3, "limit"),
    ];
    for (x, colour, width, name) in legend {
        rect(&mut svg, (x, 46), (f64::from(width), 12), colour);
        text(&mut svg, (x + f64::from(width) + 6.0, 56), 12, GREY, "start", name);
    }
    text(&mut svg, (one - 8.0, TOP - 12), 12, GREY, "end", "← worse");
    text(&mut svg, (one + 8.0, TOP - 12), 12, GREY, "start", "better →");
    for tick in axis.lines() {
        let x = axis.x(tick);
        let colour = if (x - one).abs() < 1.0 { GREY } else { "#d8dee4" };
        rect(&mut svg, (x - 0.5, TOP - 6), (1.0, bottom - TOP + 10), colour);
        text(&mut svg, (x, bottom + 20), 12, GREY, "middle", &format!("{tick}×"));
    }
    for (number, bar) in bars.iter().enumerate() {
        draw_bar(&mut svg, bar, &axis, TOP + ROW * number);
    }
    let shown = format!("{} of {count} comparisons, on a logarithmic axis", bars.len());
    text(&mut svg, (16.0, height - 14), 12, GREY, "start", &shown);
    svg + "</svg>\n"
}

fn draw_bar(svg: &mut String, bar: &Bar, axis: &Axis, top: usize) {
    let is_failed = bar.holds == Some(false);
    let colour = match bar.has_peer {
        _ if is_failed => FAILED,
        true => PEER,
        false => ALONE,
    };
    let (one, end) = (axis.x(1.0), axis.x(bar.value));
    if !bar.value.is_nan() {
        // A bar of no length is visible, too.
        rect(svg, (one.min(end) - 1.0, top + 12), ((one - end).abs() + 2.0, 14), colour);
    }
    if !bar.value.is_nan() && !axis.contains(bar.value) {
        let tip = if end < one { -9 } else { 9 };
        let path = format!("M{end:.1} {} l{tip} 11 l{} 11 z", top + 8, -tip);
        let _ = writeln!(svg, r#"<path d="{path}" fill="{colour}"/>"#);
    }
    if let Some(limit) = bar.limit.filter(|limit| axis.contains(*limit)) {
        rect(svg, (axis.x(limit) - 2.5, top + 7), (5.0, 24), "white");
        rect(svg, (axis.x(limit) - 1.5, top + 7), (3.0, 24), DARK);
    }
    text(svg, (16.0, top + 17), 13, DARK, "start", &cut(&bar.what, 54));
    text(svg, (16.0, top + 31), 11, GREY, "start", &cut(&bar.figures(), 66));
    text(svg, (AXIS[1] + 18.0, top + 17), 13, DARK, "start", &bar.length());
    let colour = if is_failed { FAILED } else { GREY };
    text(svg, (AXIS[1] + 18.0, top + 31), 11, colour, "start", &bar.verdict());
}

/// Returns a bar in words.
fn describe(bar: &Bar) -> String {
    let verdict = bar.verdict();
    let limit = if verdict.is_empty() { String::new() } else { format!(", limit {verdict}") };
    format!("{}: {} ({}{limit})", bar.what, bar.length(), bar.figures())
}

/// A logarithmic axis from one of [`TICKS`] to another.
#[derive(Debug, PartialEq)]
struct Axis {
    ticks: &'static [f64],
}

impl Axis {
    /// Returns the shortest axis with all values, as far as the ticks reach.
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let widen = |(low, high): (f64, f64), value| (low.min(value), high.max(value));
        let (low, high) = values.fold((0.5, 2.0), widen);
        let first = TICKS.iter().rposition(|tick| *tick <= low).unwrap_or_default();
        let last = TICKS.iter().position(|tick| *tick >= high).unwrap_or(TICKS.len() - 1);
        Self { ticks: &TICKS[first..=last] }
    }

    fn ends(&self) -> [f64; 2] {
        [self.ticks[0], self.ticks[self.ticks.len() - 1]]
    }

    fn contains(&self, value: f64) -> bool {
        let [low, high] = self.ends();
        (low..=high).contains(&value)
    }

    /// Returns the place of a value, or the nearer end of the axis.
    fn x(&self, value: f64) -> f64 {
        let [low, high] = self.ends().map(f64::ln);
        let part = ((value.ln() - low) / (high - low)).clamp(0.0, 1.0);
        AXIS[0] + part * (AXIS[1] - AXIS[0])
    }

    /// Returns the values with a line and a label.
    fn lines(&self) -> impl Iterator<Item = f64> {
        let is_long = self.ticks.len() > LINES_MAX;
        let powers = TICKS.iter().step_by(3);
        let powers = powers.filter(move |power| is_long && self.contains(**power));
        self.ticks.iter().filter(move |_| !is_long).chain(powers).copied()
    }
}

fn rect(svg: &mut String, (x, y): (f64, usize), (width, height): (f64, usize), colour: &str) {
    let size = format!(r#"width="{width:.1}" height="{height}""#);
    let _ = writeln!(svg, r#"<rect x="{x:.1}" y="{y}" {size} fill="{colour}"/>"#);
}

fn text(svg: &mut String, (x, y): (f64, usize), size: u8, colour: &str, anchor: &str, text: &str) {
    let font = format!(r#"font-size="{size}" fill="{colour}" text-anchor="{anchor}""#);
    let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y}" {font}>{}</text>"#, escaped(text));
}

/// Cuts a text to a number of characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
