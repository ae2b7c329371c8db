//! LCP and the reference implementation read each other's packs, and an
//! independent tokenizer agrees with every count.

mod charts;
mod dedup;
mod from_reference;
mod packs;
mod reference;
mod table;
mod to_reference;
mod tokens;
