//! The content stores.

mod damaged;
mod edges;
mod laws;
mod packs;
mod support;
mod tenants;

#[cfg(feature = "content-sqlite")]
mod full;
#[cfg(all(feature = "content-sqlite", unix))]
mod killed;
#[cfg(feature = "object-store")]
mod objects;
#[cfg(feature = "content-sqlite")]
mod opened;
#[cfg(feature = "content-sqlite")]
mod processes;
#[cfg(all(feature = "content-sqlite", unix))]
mod read_only;
#[cfg(feature = "content-sqlite")]
mod refused;
