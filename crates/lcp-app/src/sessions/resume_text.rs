//! The text that a new session begins with.

use lcp_continuity::ResumedSession;
use lcp_driver::{DefaultDriver, DriverConfig, append_text};

use super::failed;
use crate::error::Result;

/// The directive, then the messages that came after the hand-off.
pub fn resume_text(resumed: &ResumedSession) -> Result<String> {
    let mut text = resumed.directive.text.clone();
    if !resumed.late_messages.is_empty() {
        let late = resumed.late_messages.iter();
        let blocks: Vec<_> = late.map(|message| message.message.block.clone()).collect();
        let config = DriverConfig { mode: resumed.directive.mode, ..DriverConfig::default() };
        let late = DefaultDriver::default().render(&blocks, &config);
        let late = late.map_err(|error| failed(lcp_continuity::Error::from(error)))?;
        append_text(&mut text, &late, config.mode);
    }
    Ok(text)
}
