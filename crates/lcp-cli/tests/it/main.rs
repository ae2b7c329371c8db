//! The command as its users call it, and the samples as attackers would.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod budget;
mod command;
mod config;
mod damage;
mod dedup;
mod docs;
mod objective;
<<<<<<< HEAD
mod sessions;
=======
mod pack;
>>>>>>> 7e0db6541a42cd1156bc8e0be9ea08b645fd6ba0
mod settings;
mod stable;
