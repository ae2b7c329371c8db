//! How the budget comes about and is divided, as a tree.

use lcp_driver::group_thousands;
use lcp_driver::report::display_name;
use lcp_driver::shares::{ContextBudget, Share, ShareSize, SharesNote};
use lcp_driver::window::ContextWindow;
use serde_json::{Value, json};

use lcp_app::config::{ResolvedBudget, Settings};

/// What there is, and the tokens of each share.
pub(super) struct Divided<'s> {
    resolved: Option<ResolvedBudget>,
    shares: &'s [Share],
    budget: Option<ContextBudget>,
}

impl<'s> Divided<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        let resolved = settings.budget.as_ref().map(|budget| budget.value);
        let shares = settings.shares.as_ref().map(|shares| &shares.value.shares);
        let budget = shares.zip(resolved).map(|(shares, all)| shares.divide(all.tokens));
        Self { resolved, shares: shares.map_or(&[], |shares| shares.as_slice()), budget }
    }

    /// What was changed about the sizes of the shares, if anything.
    pub(super) fn note(&self) -> Option<SharesNote> {
        self.budget.as_ref().and_then(ContextBudget::note)
    }

    /// Each share with its tokens; those are `null` without a budget.
    pub(super) fn shares(&self) -> Vec<Value> {
        let share = |share: &Share| {
            let (percent, fixed) = match share.size {
                ShareSize::Ratio(ratio) => (Some(percent(ratio)), None),
                ShareSize::Tokens(tokens) => (None, Some(tokens)),
                _ => (None, None),
            };
            json!({
                "name": share.name,
                "percent": percent,
                "fixed": fixed,
                "cap": share.cap,
                "tokens": self.tokens(share),
            })
        };
        self.shares.iter().map(share).collect()
    }

    fn tokens(&self, share: &Share) -> Option<u32> {
        self.budget.as_ref().and_then(|budget| budget.tokens(&share.name))
    }

    /// The tree, a line each, with a final newline.
    pub(super) fn tree(&self) -> String {
        let root = match self.resolved {
            None => Node::new("No budget: everything is shown in full").with(self.parts()),
            Some(ResolvedBudget { tokens, window: None, .. }) => {
                Node::tokens("Budget", tokens).with(self.parts())
            }
            Some(ResolvedBudget { tokens, window: Some(window), .. }) => {
                let available = Node::tokens("Available for Context", tokens).with(self.parts());
                let mut nodes = taken_off(&window);
                nodes.push(available);
                Node::tokens("Total Context Window", window.tokens).with(nodes)
            }
        };
        let mut out = format!("{}\n", root.text);
        root.print_parts("", &mut out);
        out
    }

    fn parts(&self) -> Vec<Node> {
        let mut nodes: Vec<_> = self.shares.iter().map(|share| self.part(share)).collect();
        let unassigned = self.budget.as_ref().map_or(0, ContextBudget::unassigned);
        if unassigned > 0 {
            nodes.push(Node::tokens("Unassigned", unassigned));
        }
        nodes
    }

    fn part(&self, share: &Share) -> Node {
        let size = match share.size {
            ShareSize::Ratio(ratio) => format!("{}%", percent(ratio)),
            _ => "fixed".to_owned(),
        };
        let cap = share
            .cap
            .map_or_else(String::new, |cap| format!(", cap {}", group_thousands(cap.into())));
        let name = format!("{} ({size}{cap})", display_name(&share.name));
        self.tokens(share).map_or_else(|| Node::new(&name), |tokens| Node::tokens(&name, tokens))
    }
}

/// What stands between a window and its budget.
fn taken_off(window: &ContextWindow) -> Vec<Node> {
    let mut nodes = Vec::new();
    if window.safety < 1.0 {
        let bare = ContextWindow { system_prompt_reserve: 0, response_reserve: 0, ..*window };
        let margin = window.tokens - bare.available().unwrap_or(0);
        let name = format!("Safety Margin ({}%)", percent(1.0 - window.safety));
        nodes.push(Node::tokens(&name, margin));
    }
    nodes.push(Node::tokens("System Prompt Reserve", window.system_prompt_reserve));
    nodes.push(Node::tokens("Response Reserve", window.response_reserve));
    nodes
}

struct Node {
    text: String,
    parts: Vec<Node>,
}

impl Node {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), parts: Vec::new() }
    }

    fn tokens(name: &str, tokens: u32) -> Self {
        Self::new(&format!("{name}: {} tokens", group_thousands(tokens.into())))
    }

    fn with(self, parts: Vec<Self>) -> Self {
        Self { parts, ..self }
    }

    fn print_parts(&self, indent: &str, out: &mut String) {
        for (at, part) in self.parts.iter().enumerate() {
            let is_last = at + 1 == self.parts.len();
            let (branch, below) =
                if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            out.extend([indent, branch, &part.text, "\n"]);
            part.print_parts(&format!("{indent}{below}"), out);
        }
    }
}

/// A part in percent, to a thousandth, so that a float's last digits do not show.
fn percent(ratio: f64) -> f64 {
    (ratio * 100_000.0).round() / 1_000.0
}
