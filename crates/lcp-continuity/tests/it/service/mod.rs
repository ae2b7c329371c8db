//! The service: sessions from their first message to the one that continues them.

mod acceptance;
mod beyond;
mod calls;
