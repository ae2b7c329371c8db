//! The command `annotate`: sets properties of blocks of a pack.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_app::annotate::{AnnotateOptions, AnnotatedPack, BlockSelection, IndexRange};
use lcp_app::append::LockedPack;
use lcp_app::names::block_type;
use lcp_app::{Error, ErrorKind};
use lcp_ingest::Pattern;
use lcp_packfile::Properties;
use lcp_types::{Annotation, Block, BlockMeta, BlockType, Tag};

use super::append;
use crate::Result;
use crate::files;
use crate::output::Output;
use crate::output_args::refuse_terminal;
use crate::property_args::PropertyArgs;

/// Set the priority, category, rank and tags of blocks of a pack
///
/// Several values of one flag are alternatives. A block must match each of the flags --path, --type
/// and --index that you pass. The pack changes in place, as with `append`: annotations are added at
/// its end, and the last one wins. All existing blocks keep their bytes and indices. With -o, the
/// pack stays unchanged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp annotate project.lcp --path 'docs/' --priority low
  lcp annotate project.lcp --path '*.rs' --type code --rank 2 --tag pinned
  lcp annotate chat.lcp --index 0,4-7 --category memory -o new.lcp
  lcp import chat.json | lcp annotate - --type tool-result --priority low | lcp render -

Exit codes: 0 success; 1 a file cannot be read or written, or another process uses the pack;
2 wrong usage, no matching block, or a pack that cannot be changed in place; 3 the pack is
malformed or damaged; 5 the pack would exceed a limit. After any code except 0, the pack is
unchanged.")]
pub struct Args {
    /// Pack to change; `-` for standard input
    pack: PathBuf,
    /// Select blocks by path or title; a glob as for `pack`; repeatable
    #[arg(long, value_name = "GLOB", value_parser = Pattern::parse)]
    path: Vec<Pattern>,
    /// Select blocks of these types, separated by commas
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = block_type)]
    types: Vec<BlockType>,
    /// Select blocks by index, such as 3,7-9 or 20-; annotations count as well
    #[arg(long, value_name = "INDICES", value_delimiter = ',', value_parser = IndexRange::parse)]
    index: Vec<IndexRange>,
    #[command(flatten)]
    properties: PropertyArgs,
    /// Set the rank of the blocks: their order within a priority, highest first
    #[arg(long, value_name = "NUMBER", value_parser = rank, allow_negative_numbers = true)]
    rank: Option<f64>,
    /// Set a tag: KEY or KEY=VALUE; `pinned` keeps blocks from being shortened; repeatable
    #[arg(long, value_name = "TAG", value_parser = tag)]
    tag: Vec<Tag<'static>>,
    /// Time to wait for other processes that use the pack
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
    /// Print a JSON report
    #[arg(long)]
    json: bool,
    /// Write the pack to this file [default: in place; standard output for standard input]
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Annotates the selected blocks.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    let in_place = args.output.is_none() && args.pack != standard;
    let to_stdout = !in_place && args.output.as_deref().is_none_or(|path| path == standard);
    let options = args.to_options(in_place)?;
    if args.json && to_stdout {
        let message = "--json requires a file for the pack: pass -o FILE";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let annotated = if in_place {
        let mut locked = LockedPack::lock(&args.pack, Duration::from_secs(args.wait.into()))?;
        let pack = locked.open(output)?;
        let annotated = options.annotate(&args.pack, &*pack)?;
        if annotated.annotations() > 0 {
            append::write(&mut locked, &annotated.appended, output)?;
        }
        annotated
    } else {
        refuse_terminal(args.output.as_deref())?;
        let outputs: Vec<_> = args.output.iter().map(|path| ("-o", path.as_path())).collect();
        files::check_distinct_paths(&[(files::PACK, &args.pack)], &outputs, |_, _| false)?;
        let pack = files::read(&args.pack, output)?;
        let annotated = options.annotate(&args.pack, &pack)?;
        files::write(args.output.as_deref(), &annotated.appended.change.apply(&pack))?;
        annotated
    };
    for warning in &annotated.appended.warnings {
        output.warn(warning);
    }
    if args.json {
        return files::print(&files::json(&annotated.to_json(&files::display_name(&args.pack))));
    }
    output.progress(line(&annotated));
    Ok(())
}

impl Args {
    /// Returns the options that these flags ask for.
    fn to_options(&self, in_place: bool) -> Result<AnnotateOptions> {
        let mut properties = self.properties.to_properties();
        properties.tags.extend(self.rank.map(|rank| Tag::new(Tag::RANK, rank.to_string())));
        properties.tags.extend(self.tag.iter().cloned());
        let selection = BlockSelection {
            paths: self.path.clone(),
            types: self.types.clone(),
            indices: self.index.clone(),
        };
        let missing =
            |what: &str, hint: &str| Err(Error::new(ErrorKind::Usage, what).with_hint(hint));
        if selection == BlockSelection::default() {
            return missing(
                "no blocks are selected",
                "pass --path, --type or --index; `--index 0-` selects all blocks",
            );
        }
        if properties == Properties::default() {
            return missing("no property is given", "pass --priority, --category, --rank or --tag");
        }
        Ok(AnnotateOptions { selection, properties, in_place })
    }
}

fn line(annotated: &AnnotatedPack) -> String {
    let selected = lcp_driver::plural(annotated.selected.len(), "block");
    match annotated.annotations() {
        0 => format!("{selected} selected; they have these properties already"),
        added => format!("{selected} selected, {} added", lcp_driver::plural(added, "annotation")),
    }
}

fn rank(value: &str) -> Result<f64, String> {
    let rank = value.parse().ok().filter(|rank: &f64| rank.is_finite());
    rank.ok_or_else(|| "expected a finite number".to_owned())
}

/// Parses a tag that has an effect or an unknown key.
fn tag(value: &str) -> Result<Tag<'static>, String> {
    let Tag { key, value } = Tag::parse(value);
    if key.is_empty() {
        return Err("expected KEY or KEY=VALUE".to_owned());
    }
    let value = value.map(|value| value.into_owned().into());
    let tag = Tag { key: key.into_owned().into(), value };
    let block = Block::new(Annotation::tag(0, &tag));
    match BlockMeta::from_annotation(&block) {
        Some(Err(_)) => Err(format!("invalid value of the tag {:?}", tag.key)),
        _ => Ok(tag),
    }
}
