//! Finds items with meaningless names.

use syn::Ident;
use syn::visit::{self, Visit};

/// The names that no function, type, variant, constant, module or macro may have.
const BANNED: &[&str] = &["said", "told", "made", "found", "kept", "beside", "whole", "what", "of"];

/// Returns the banned names of the items in a source file, in order.
pub(super) fn banned(text: &str) -> Vec<String> {
    let mut names = Names(Vec::new());
    if let Ok(file) = syn::parse_file(text) {
        names.visit_file(&file);
    }
    names.0
}

struct Names(Vec<String>);

impl Names {
    fn check(&mut self, ident: &Ident) {
        let name = ident.to_string();
        if BANNED.contains(&name.to_lowercase().as_str()) {
            self.0.push(name);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_signature(&mut self, node: &'ast syn::Signature) {
        self.check(&node.ident);
        visit::visit_signature(self, node);
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.check(&node.ident);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.check(&node.ident);
        visit::visit_item_enum(self, node);
    }

    fn visit_variant(&mut self, node: &'ast syn::Variant) {
        self.check(&node.ident);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.check(&node.ident);
        visit::visit_item_trait(self, node);
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.check(&node.ident);
    }

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.check(&node.ident);
        visit::visit_item_const(self, node);
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        self.check(&node.ident);
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        self.check(&node.ident);
        visit::visit_item_mod(self, node);
    }

    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        node.ident.iter().for_each(|ident| self.check(ident));
    }
}

#[cfg(test)]
mod tests {
    use super::banned;

    #[test]
    fn banned_item_names_are_listed() {
        let text = "mod beside; struct Made; enum A { Kept } trait T { fn told(); }
            impl Made { fn of() { fn whole() {} } } const WHAT: u8 = 0;";
        let names = ["beside", "Made", "Kept", "told", "of", "whole", "WHAT"];
        assert_eq!(banned(text), names);
    }

    #[test]
    fn other_names_fields_and_variables_are_not_listed() {
        assert!(banned("fn offset(kept: u8) { let said = kept; } struct A { of: u8 }").is_empty());
    }
}
