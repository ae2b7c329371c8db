//! The definitions in code: functions, types and values with their lines.

use tree_sitter::{Node, Tree};

use super::item;
use super::language::{Declaration, Language, Rule};
use crate::outline::definition::{Definition, DefinitionKind};

/// The maximum depth of nested definitions.
const LEVELS_MAX: usize = 8;

/// The maximum number of definitions of a text.
const DEFINITIONS_MAX: usize = 20_000;

/// Returns the definitions of a tree in the order of their first lines, outer ones first. Those
/// within functions are left out.
pub(super) fn definitions(text: &str, language: &Language, tree: &Tree) -> Vec<Definition> {
    let mut walk = Walk { text, language, out: Vec::new() };
    walk.visit(tree.root_node(), "", 0, 0);
    walk.out.sort_by_key(|one| (one.first_line, std::cmp::Reverse(one.last_line), one.depth));
    walk.out.dedup();
    walk.out
}

struct Walk<'w> {
    text: &'w str,
    language: &'w Language,
    out: Vec<Definition>,
}

impl Walk<'_> {
    /// Adds the definitions among the children of a node.
    fn visit(&mut self, node: Node<'_>, owner: &str, depth: usize, level: usize) {
        let mut cursor = node.walk();
        let mut attributes = None;
        let mut has_more = level < LEVELS_MAX && cursor.goto_first_child();
        while has_more && self.out.len() < DEFINITIONS_MAX {
            let child = cursor.node();
            match self.language.rule(child.kind()) {
                Some(Rule::Attribute) => {
                    attributes = attributes.or(Some(child.start_byte()));
                    has_more = cursor.goto_next_sibling();
                    continue;
                }
                Some(Rule::Transparent) => self.visit(child, owner, depth, level + 1),
                Some(Rule::Comment | Rule::Omit) => {}
                Some(rule) => self.definition(child, rule, owner, depth, level, attributes),
                None if child.is_error() => self.visit(child, owner, depth, level + 1),
                None => {}
            }
            if child.is_named() {
                attributes = None;
            }
            has_more = cursor.goto_next_sibling();
        }
    }

    /// Adds a definition and those in it.
    fn definition(
        &mut self,
        outer: Node<'_>,
        rule: Rule,
        owner: &str,
        depth: usize,
        level: usize,
        attributes: Option<usize>,
    ) {
        let Some((rule, node)) = item::inner_declaration(self.language, outer, rule) else {
            return;
        };
        let declaration = Declaration {
            text: self.text,
            outer,
            node,
            source: self.text.get(outer.byte_range()).unwrap_or_default(),
            owner,
            attributes: attributes
                .and_then(|from| self.text.get(from..outer.start_byte()))
                .unwrap_or_default(),
        };
        if (self.language.is_omitted)(&declaration) {
            return;
        }
        let value = item::value(self.language, node).filter(|_| rule == Rule::Value);
        let parent = value.unwrap_or(node);
        let is_function_value = self.language.functions.contains(&parent.kind());
        let body = item::body(self.language, parent);
        let members = item::members(self.language, parent)
            .filter(|_| matches!(rule, Rule::Members | Rule::Value) && !is_function_value);
        let kind = match rule {
            _ if members.is_some() => DefinitionKind::Type,
            Rule::Value if !is_function_value => DefinitionKind::Value,
            Rule::Members => DefinitionKind::Type,
            Rule::Signature if body.is_none() => DefinitionKind::Value,
            _ => DefinitionKind::Function,
        };
        self.out.push(Definition {
            name: self.name(node),
            first_line: outer.start_position().row + 1,
            last_line: 1 + self.last_row(outer),
            kind,
            depth,
        });
        // Members that outlines leave out, such as those of a trait, are definitions as well.
        if let Some(members) = members {
            self.visit(members, node.kind(), depth + 1, level + 1);
        }
    }

    /// Returns the row of the last text of a node.
    fn last_row(&self, outer: Node<'_>) -> usize {
        let text = self.text.get(outer.byte_range()).unwrap_or_default().trim_end();
        outer.start_position().row + text.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Returns the name of a definition; empty if it has none.
    fn name(&self, node: Node<'_>) -> String {
        let mut node = node;
        for _ in 0..LEVELS_MAX {
            let inner = ["name", "type", "declarator", "left"]
                .into_iter()
                .find_map(|field| node.child_by_field_name(field));
            let inner = inner.or_else(|| {
                let mut inner = item::children(node).filter(|child| {
                    matches!(child.kind(), "variable_declarator" | "type_spec" | "const_spec")
                });
                inner.next()
            });
            match inner {
                Some(inner) => node = inner,
                None => break,
            }
        }
        let text = self.text.get(node.byte_range()).unwrap_or_default();
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        text[..end.unwrap_or(text.len())].to_owned()
    }
}
