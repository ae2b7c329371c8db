//! The content stores.

mod damaged;
mod edges;
mod laws;
mod packs;
mod support;
mod tenants;

#[cfg(feature = "sqlite")]
mod full;
#[cfg(all(feature = "sqlite", unix))]
mod killed;
#[cfg(feature = "object-store")]
mod objects;
#[cfg(feature = "sqlite")]
mod opened;
#[cfg(feature = "sqlite")]
mod processes;
#[cfg(all(feature = "sqlite", unix))]
mod read_only;
#[cfg(feature = "sqlite")]
mod refused;
