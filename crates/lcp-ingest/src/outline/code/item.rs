//! Finds the parts of a declaration.

use tree_sitter::Node;

use super::language::{Language, Rule};

/// The maximum number of nested wrappers and of nested containers.
const LEVELS_MAX: usize = 6;

/// The number of children to search for a value or a wrapped declaration.
const CHILDREN_MAX: usize = 16;

/// Returns the innermost wrapped node and its rule, or `None` if it is left out.
pub(super) fn inner_declaration<'t>(
    language: &Language,
    outer: Node<'t>,
    rule: Rule,
) -> Option<(Rule, Node<'t>)> {
    let (mut rule, mut node) = (rule, outer);
    for _ in 0..LEVELS_MAX {
        let is_group = rule == Rule::Group && brackets(node).is_some();
        match rule {
            Rule::Group if is_group => return Some((Rule::Members, node)),
            Rule::Group | Rule::Wrapper | Rule::Statement => {}
            _ => return Some((rule, node)),
        }
        let inner = children(node).find_map(|child| {
            let rule = language.rule(child.kind())?;
            let is_wanted = !matches!(rule, Rule::Comment | Rule::Omit | Rule::Attribute);
            is_wanted.then_some((rule, child))
        });
        match inner {
            Some(inner) => (rule, node) = inner,
            None if rule == Rule::Statement => return None,
            None => return Some((Rule::Signature, node)),
        }
    }
    Some((Rule::Signature, node))
}

/// Returns the first named children.
pub(super) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    let all = std::iter::from_fn(move || {
        let node = more.then(|| cursor.node());
        more = more && cursor.goto_next_sibling();
        node
    });
    all.filter(Node::is_named).take(CHILDREN_MAX)
}

/// Returns the body of a declaration, which is left out.
pub(super) fn body<'t>(language: &Language, node: Node<'t>) -> Option<Node<'t>> {
    let is_body = |node: &Node<'_>| language.bodies.contains(&node.kind());
    // The initializers of fields come before the body.
    children(node).find(is_body).or_else(|| node.child_by_field_name("body").filter(is_body))
}

/// Returns the part of a declaration that contains other declarations.
pub(super) fn members<'t>(language: &Language, node: Node<'t>) -> Option<Node<'t>> {
    let has_members = |node: &Node<'_>| language.members.contains(&node.kind());
    if brackets(node).is_some() && language.rule(node.kind()) == Some(Rule::Group) {
        return Some(node);
    }
    let mut node = node;
    for _ in 0..LEVELS_MAX {
        let named = node.child_by_field_name("body").filter(has_members);
        if let Some(body) = named.or_else(|| children(node).find(has_members)) {
            return Some(body);
        }
        node = children(node).find(|child| language.containers.contains(&child.kind()))?;
    }
    None
}

/// Returns the value of a declaration, or the accessors of a property.
pub(super) fn value<'t>(language: &Language, node: Node<'t>) -> Option<Node<'t>> {
    own_value(node).or_else(|| {
        children(node).find_map(|child| {
            let is_container = language.containers.contains(&child.kind());
            let inner = || children(child).find_map(own_value).filter(|_| is_container);
            own_value(child).or_else(inner)
        })
    })
}

fn own_value(node: Node<'_>) -> Option<Node<'_>> {
    ["value", "right", "default_value", "accessors"]
        .iter()
        .find_map(|name| node.child_by_field_name(name))
        .or_else(|| {
            let mut cursor = node.walk();
            let mut children = node.children(&mut cursor).take(CHILDREN_MAX);
            children.find(|child| child.kind() == "=")?.next_named_sibling()
        })
}

/// Returns the opening and closing bracket of a node.
pub(super) fn brackets(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let mut cursor = node.walk();
    if !cursor.goto_first_child() {
        return None;
    }
    let open = loop {
        if matches!(cursor.node().kind(), "{" | "(") {
            break cursor.node();
        }
        if !cursor.goto_next_sibling() {
            return None;
        }
    };
    let last = node.child(node.child_count().checked_sub(1)?)?;
    matches!(last.kind(), "}" | ")").then_some((open, last))
}
