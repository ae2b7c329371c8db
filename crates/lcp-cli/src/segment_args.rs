//! Flags of segments.

use lcp_app::segments::SegmentOptions;

/// The flags that show a conversation in segments.
#[derive(Debug, Default, clap::Args)]
pub struct SegmentArgs {
    /// Show each segment of the conversation at one level
    ///
    /// The two newest segments come first, in full if they fit. Older ones are shown as a detailed
    /// or a brief summary, or as placeholders; those with decisions, promises or open questions
    /// come before others. `report --segments` lists the level of each segment and the reason.
    /// `[context.segments]` of lcp.toml has the options.
    #[arg(long)]
    segments: bool,
    /// Show these segments in full before all others, such as `s3`
    #[arg(long, value_name = "IDS", value_delimiter = ',', requires = "segments")]
    expand: Vec<String>,
    /// Prefer segments that contain one of these words or phrases, in any case
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', requires = "segments")]
    topics: Vec<String>,
}

impl SegmentArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> Option<SegmentOptions> {
        let (expanded, topics) = (self.expand.clone(), self.topics.clone());
        self.segments.then_some(SegmentOptions { expanded, topics })
    }
}
