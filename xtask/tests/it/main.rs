//! The command as its users call it, and the samples as attackers would.

mod command;
mod damage;
