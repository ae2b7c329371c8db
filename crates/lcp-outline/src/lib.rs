//! Outlines without a model (RFC 0010 §4).
