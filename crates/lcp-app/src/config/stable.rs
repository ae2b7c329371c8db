//! `[context.stable]`: between which parts of the budget a stable text grows (RFC
//! 0005 §6).

use lcp_driver::prompt_cache::{WatermarkError, Watermarks};

use super::reader::{Located, Result, Section};
use super::settings::Setting;

/// The watermarks of the file, as parts of the budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatermarkSettings {
    /// Above what a text is packed anew.
    high: Option<Located<f64>>,
    /// Down to where.
    low: Option<Located<f64>>,
}

impl WatermarkSettings {
    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        const MUST: &str = "must be above 0 and at most 1";
        let Some(entry) = context.take("stable") else { return Ok(Self::default()) };
        let location = entry.location();
        let mut section = entry.section()?;
        let is_part = |part: f64| part > 0.0 && part <= 1.0;
        let settings = Self {
            high: section.number("high_watermark", is_part, MUST)?,
            low: section.number("low_watermark", is_part, MUST)?,
        };
        section.finish()?;
        // Each may be right and both out of order.
        settings.checked().map_err(|error| location.fail(error))?;
        Ok(settings)
    }

    fn checked(&self) -> Result<Watermarks, WatermarkError> {
        let (high, low) = self.parts();
        Watermarks::new(high.value, low.value)
    }

    /// The watermarks, by default where the file says nothing.
    pub fn watermarks(&self) -> Watermarks {
        // They were looked at when they were read.
        self.checked().unwrap_or_default()
    }

    /// The high and the low one as parts, and who said them.
    pub fn parts(&self) -> (Setting<f64>, Setting<f64>) {
        // The defaults are told in tokens only.
        let (high, low) = Watermarks::default().tokens(1_000);
        let part = |file: &Option<Located<f64>>, default: u32| {
            Setting::or(file.as_ref(), f64::from(default) / 1_000.0)
        };
        (part(&self.high, high), part(&self.low, low))
    }
}
