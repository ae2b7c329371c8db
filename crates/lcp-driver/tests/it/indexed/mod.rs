//! Plans by an index, and what is counted for it (RFC 0003 §4, §7).

mod costs;
