//! The walk over a syntax tree, which adds its declarations to the outline.
//!
//! It visits the declarations in order. Each level has a frame in a list, so the depth of the text
//! does not limit the stack.

use tree_sitter::{Node, Tree, TreeCursor};

use super::item;
use super::language::{Declaration, Language, Rule};
use crate::outline::builder::OutlineBuilder;

/// The maximum depth of nested declarations.
const LEVELS_MAX: usize = 48;

/// The maximum number of lines of a signature or of a declaration without a body.
const ITEM_LINES_MAX: usize = 32;

/// The maximum size, in lines and in bytes, of a small declaration, which is included with its
/// members.
const SMALL_LINES_MAX: usize = 3;
const SMALL_BYTES_MAX: usize = 160;

/// The maximum size in bytes of a declaration that is included with its value.
const VALUE_BYTES_MAX: usize = 100;

/// Adds the declarations of a tree to the outline. Returns whether there are any.
pub(super) fn fill(out: &mut OutlineBuilder<'_>, language: &Language, tree: &Tree) -> bool {
    let mut walk = OutlineWalker { language, out, has_declarations: false };
    let mut frames = vec![Frame::new(tree.root_node(), "")];
    loop {
        let level = frames.len();
        let Some(frame) = frames.last_mut() else { break };
        let below = match frame.next() {
            Some(_) if walk.out.is_full() => break,
            Some(node) => walk.node(frame, node),
            None => {
                walk.leave(frame);
                frames.pop();
                continue;
            }
        };
        match below {
            Some(below) if level < LEVELS_MAX => frames.push(below),
            Some(below) => frame.gap = frame.gap.or(Some(below.from)),
            None => {}
        }
    }
    walk.has_declarations
}

/// A level of the walk: the nodes with the same parent.
struct Frame<'t> {
    cursor: TreeCursor<'t>,
    is_started: bool,
    /// `true` if the level has had only comments and attributes so far.
    is_first: bool,
    from: usize,
    owner: &'t str,
    /// `true` if documentation at the start of the level is included.
    documents: bool,
    /// The range from the closing bracket to the end of the declaration.
    close: Option<(usize, usize)>,
    /// The offset of the first omission since the last declaration.
    gap: Option<usize>,
    /// The comments directly above the next declaration.
    doc: Option<Doc>,
    /// The range of the attributes directly above the next declaration.
    attributes: Option<(usize, usize)>,
    /// The end of the previous node.
    end: Option<usize>,
}

/// A sequence of comments.
#[derive(Clone, Copy)]
struct Doc {
    from: usize,
    to: usize,
    last_line: usize,
}

impl<'t> Frame<'t> {
    fn new(node: Node<'t>, owner: &'t str) -> Self {
        Self {
            cursor: node.walk(),
            is_started: false,
            is_first: true,
            from: node.start_byte(),
            owner,
            documents: owner.is_empty(),
            close: None,
            gap: None,
            doc: None,
            attributes: None,
            end: None,
        }
    }

    fn next(&mut self) -> Option<Node<'t>> {
        let has_more = if self.is_started {
            self.cursor.goto_next_sibling()
        } else {
            self.cursor.goto_first_child()
        };
        self.is_started = true;
        has_more.then(|| self.cursor.node())
    }

    /// Returns whether the node is a part of the declaration itself, such as its name, not a
    /// member.
    fn is_part(&self) -> bool {
        matches!(self.cursor.field_name(), Some("name" | "condition" | "value" | "alternative"))
    }
}

struct OutlineWalker<'w, 'p> {
    language: &'w Language,
    out: &'w mut OutlineBuilder<'p>,
    has_declarations: bool,
}

impl<'p> OutlineWalker<'_, 'p> {
    fn source(&self, from: usize, to: usize) -> &'p str {
        self.out.text().get(from..to).unwrap_or_default()
    }

    /// Adds the parts of a node that belong in the outline. Returns its level of members, if it has
    /// one.
    fn node<'t>(&mut self, frame: &mut Frame<'t>, node: Node<'t>) -> Option<Frame<'t>> {
        let rule = self.language.rule(node.kind());
        let before = frame.end.replace(node.end_byte());
        match rule {
            Some(Rule::Comment) => {
                self.comment(frame, node, before);
                return None;
            }
            Some(Rule::Attribute) => {
                let from = frame.attributes.map_or(node.start_byte(), |(from, _)| from);
                frame.attributes = Some((from, node.end_byte()));
                if let Some(doc) = &mut frame.doc {
                    doc.last_line = self.out.line_of(node.end_byte().saturating_sub(1));
                }
                return None;
            }
            _ => {}
        }
        let is_first = std::mem::replace(&mut frame.is_first, false);
        if is_text(node) {
            if is_first && frame.documents && self.language.has_docstrings {
                self.first_words(node.start_byte(), node.end_byte());
            }
            return None;
        }
        let doc = frame.doc.take();
        let attributes = frame.attributes.take();
        let Some(rule) = rule.or(node.is_error().then_some(Rule::Transparent)) else {
            if node.is_named() && !frame.is_part() {
                frame.gap = frame.gap.or(Some(node.start_byte()));
            }
            return None;
        };
        if rule == Rule::Omit {
            return None;
        }
        if rule == Rule::Transparent {
            let mut below = Frame::new(node, frame.owner);
            below.documents = false;
            return Some(below);
        }
        let Some((rule, inner)) = item::inner_declaration(self.language, node, rule) else {
            frame.gap = frame.gap.or(Some(node.start_byte()));
            return None;
        };
        let text = self.out.text();
        let declaration = Declaration {
            text,
            outer: node,
            node: inner,
            source: self.source(node.start_byte(), node.end_byte()),
            owner: frame.owner,
            attributes: attributes.map_or("", |(from, to)| self.source(from, to)),
        };
        let is_public = (self.language.is_public)(&declaration);
        if (self.language.is_omitted)(&declaration) {
            return None;
        }
        if let Some(at) = frame.gap.take() {
            self.out.mark(at);
        }
        if let Some(doc) = doc.filter(|_| is_public)
            && doc.last_line + 1 >= self.out.line_of(node.start_byte())
        {
            self.first_words(doc.from, doc.to);
        }
        self.has_declarations = true;
        self.declaration(&declaration, rule, is_public)
    }

    /// Stores a comment for the next declaration, or adds it if it documents the file.
    fn comment(&mut self, frame: &mut Frame<'_>, node: Node<'_>, before: Option<usize>) {
        let (from, to) = (node.start_byte(), node.end_byte());
        let text = self.source(from, to).trim_end();
        let to = from + text.len();
        let line = self.out.line_of(from);
        if before.is_some_and(|end| self.out.line_of(end.saturating_sub(1)) == line) {
            // A comment at the end of a line belongs to the code before it.
            return;
        }
        if (self.language.is_file_doc_comment)(text) {
            if frame.documents && self.out.is_empty() {
                self.first_words(from, to);
            }
            return;
        }
        let last_line = self.out.line_of(to.saturating_sub(1));
        match &mut frame.doc {
            Some(doc) if doc.last_line + 1 == line => (doc.to, doc.last_line) = (to, last_line),
            doc => {
                *doc = (self.language.is_doc_comment)(text).then_some(Doc { from, to, last_line });
            }
        }
    }

    /// Adds the first line of a documentation that has words.
    fn first_words(&mut self, from: usize, to: usize) {
        let lines = self.out.line_of(from)..=self.out.line_of(to.saturating_sub(1));
        for line in lines.take(ITEM_LINES_MAX) {
            let start = self.out.start(line);
            let end = to.min(start + self.out.line(line).len());
            if has_words(self.source(start.max(from), end)) {
                self.out.push_span(start.max(from), end, 1);
                return;
            }
        }
    }

    /// Adds a declaration. Returns its level of members, if they should be visited.
    fn declaration<'t>(
        &mut self,
        declaration: &Declaration<'t, '_>,
        rule: Rule,
        is_public: bool,
    ) -> Option<Frame<'t>> {
        let (outer, node) = (declaration.outer, declaration.node);
        let (from, to) = (outer.start_byte(), outer.end_byte());
        match rule {
            Rule::Members | Rule::Value => {
                let value = item::value(self.language, node).filter(|_| rule == Rule::Value);
                let parent = value.unwrap_or(node);
                let is_function = self.language.functions.contains(&parent.kind());
                let members = item::members(self.language, parent).filter(|_| !is_function);
                if let Some(members) = members {
                    return self.members(declaration, members, is_public);
                }
                if let Some(value) = value {
                    self.value(from, to, value);
                } else {
                    // The accessors of a property.
                    let body = item::body(self.language, node).filter(|_| rule == Rule::Value);
                    let to = body.map_or(to, |body| body.start_byte());
                    self.out.push_span(from, to, ITEM_LINES_MAX);
                }
            }
            Rule::FirstLine => {
                let line = self.out.line_of(from);
                self.out.push_line(line);
                if self.out.line_of(to.saturating_sub(1)) > line {
                    self.out.mark_elided();
                }
            }
            _ => match item::body(self.language, node) {
                Some(body) => {
                    self.out.push_span(from, body.start_byte(), ITEM_LINES_MAX);
                    self.docstring(body, is_public);
                }
                None => self.out.push_span(from, self.with_colon(to), ITEM_LINES_MAX),
            },
        }
        None
    }

    /// Returns the end of the node, after a colon that belongs to it.
    fn with_colon(&self, to: usize) -> usize {
        let has_colon = self.out.text().get(to..).is_some_and(|rest| rest.starts_with(':'));
        to + usize::from(has_colon)
    }

    /// Adds a declaration, with its value if that is short.
    fn value(&mut self, from: usize, to: usize, value: Node<'_>) {
        let language = self.language;
        let is_function = language.functions.contains(&value.kind());
        if let Some(body) = item::body(language, value).filter(|_| is_function) {
            self.out.push_span(from, body.start_byte(), ITEM_LINES_MAX);
        } else if self.is_small(from, to, 1, VALUE_BYTES_MAX) {
            self.out.push_span(from, to, 1);
        } else {
            self.out.push_span(from, value.start_byte(), ITEM_LINES_MAX);
            self.out.mark_elided();
        }
    }

    /// Adds the head of a declaration with members. Returns its level of members, if they should be
    /// visited.
    fn members<'t>(
        &mut self,
        declaration: &Declaration<'t, '_>,
        members: Node<'t>,
        is_public: bool,
    ) -> Option<Frame<'t>> {
        let outer = declaration.outer;
        let (from, to) = (outer.start_byte(), outer.end_byte());
        if (self.language.hides_members)(declaration) {
            self.out.push_span(from, members.start_byte(), ITEM_LINES_MAX);
            return None;
        }
        if self.is_small(from, to, SMALL_LINES_MAX, SMALL_BYTES_MAX) && !self.has_bodies(members) {
            self.out.push_span(from, to, SMALL_LINES_MAX);
            return None;
        }
        let brackets = item::brackets(members);
        let head = brackets.map_or(members.start_byte(), |(open, _)| open.end_byte());
        self.out.push_span(from, head, ITEM_LINES_MAX);
        let mut below = Frame::new(members, declaration.node.kind());
        below.documents = is_public;
        below.close = brackets
            .map(|(_, close)| (close.start_byte(), to))
            .filter(|(close, to)| close < to && self.out.is_first(*close));
        Some(below)
    }

    /// Returns whether one of the first members has a body.
    fn has_bodies(&self, members: Node<'_>) -> bool {
        (0..members.child_count())
            .take(SMALL_BYTES_MAX)
            .filter_map(|at| members.child(at))
            .any(|child| item::body(self.language, child).is_some())
    }

    fn is_small(&self, from: usize, to: usize, lines_max: usize, bytes_max: usize) -> bool {
        let lines = self.out.line_of(to.saturating_sub(1)) - self.out.line_of(from) + 1;
        to - from <= bytes_max && lines <= lines_max
    }

    /// Adds the documentation at the start of a body.
    fn docstring(&mut self, body: Node<'_>, is_public: bool) {
        let first = body.named_child(0);
        if let Some(first) =
            first.filter(|first| is_public && self.language.has_docstrings && is_text(*first))
        {
            self.first_words(first.start_byte(), first.end_byte());
        }
    }

    /// Adds the pending marker and the closing bracket of a level.
    fn leave(&mut self, frame: &mut Frame<'_>) {
        if let Some(at) = frame.gap.take() {
            self.out.mark(at);
        }
        if let Some((from, to)) = frame.close {
            self.out.push_span(from, to, ITEM_LINES_MAX);
        }
    }
}

/// Returns whether a text has letters or digits outside of tags such as `<summary>`.
fn has_words(text: &str) -> bool {
    let mut is_tag = false;
    text.chars().any(|c| {
        is_tag = (is_tag || c == '<') && c != '>';
        !is_tag && c.is_alphanumeric()
    })
}

/// Returns whether a statement consists of a string.
fn is_text(node: Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && node.named_child_count() == 1
        && node.named_child(0).is_some_and(|child| child.kind() == "string")
}
