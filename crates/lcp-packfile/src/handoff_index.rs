//! The index of a hand-off: JSON that names blocks of its pack (RFC 0009).

use lcp_types::{Block, CarriedLevel, HANDOFF_INDEX_VERSION, HANDOFF_TYPE_NAME};
use serde_json::Value;

/// Returns the content of a block that is the index of a hand-off.
pub fn handoff_index<'b>(block: &'b Block<'_>) -> Option<&'b [u8]> {
    let extension = block.as_extension()?;
    (extension.namespace == CarriedLevel::NAMESPACE && extension.type_name == HANDOFF_TYPE_NAME)
        .then(|| extension.content.as_slice())
}

/// Returns the content of a hand-off's index with every block replaced by `to`; `None` if it
/// cannot be read or is of a newer version.
pub fn renumber(content: &[u8], mut to: impl FnMut(u64) -> u64) -> Option<Vec<u8>> {
    let mut index: Value = serde_json::from_slice(content).ok()?;
    let members = index.as_object_mut()?;
    let version = members.get("version").and_then(Value::as_u64);
    version.filter(|version| *version <= HANDOFF_INDEX_VERSION)?;
    let mut place = |value: Option<&mut Value>| {
        if let Some((block, place)) = value.and_then(|place| Some((place.as_u64()?, place))) {
            *place = to(block).into();
        }
    };
    for name in ["intent", "summary"] {
        place(members.get_mut(name));
    }
    for name in ["tasks", "anchors", "recent"] {
        let items = members.get_mut(name).and_then(Value::as_array_mut);
        items.into_iter().flatten().for_each(|item| place(item.get_mut("block")));
    }
    place(members.get_mut("state").and_then(|state| state.get_mut("block")));
    serde_json::to_vec(&index).ok()
}
