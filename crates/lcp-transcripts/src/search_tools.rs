//! Recognition of search tools, whose results get a category of their own (RFC 0012 §9).

use lcp_types::{Annotation, Block, BlockContent, Tag, category, normalize_tool_name};

/// Tools that search files, code, the web or other content, by their [normalized
/// names](normalize_tool_name). Tools that only read or list are not search tools. Shells are not
/// either, because a command may do several things.
const SEARCH_TOOLS: [&str; 41] = [
    "bravelocalsearch", "bravewebsearch", "codebasesearch", "codesearch", "docssearch",
    "fileglobsearch", "filesearch", "findbyname", "findfile", "findfiles", "findpath",
    "findreferencingsymbols", "findsymbol", "firecrawlsearch", "glob", "globtool",
    "googlewebsearch", "grep", "grepfiles", "grepsearch", "greptool", "kagisearchfetch",
    "microsoftdocssearch", "perplexitysearch", "ripgrep", "search", "searchcode", "searchdir",
    "searchdocs", "searchfile", "searchfilecontent", "searchfiles", "searchforpattern",
    "searchissues", "searchweb", "semanticsearch", "tavilysearch", "websearch", "websearchexa",
    "websearchpreview", "websearchtool",
];

/// Tags the results of search tools with the category `search_results`. `more` names further tools.
pub(crate) fn tag_results(blocks: Vec<Block<'static>>, more: &[String]) -> Vec<Block<'static>> {
    let more = more.iter().map(|name| normalize_tool_name(name));
    // A result without a tool has an empty name.
    let more: Vec<_> = more.filter(|name| !name.is_empty()).collect();
    let is_result = |block: &Block<'_>| {
        let BlockContent::ToolResult(result) = &block.content else { return false };
        let name = normalize_tool_name(&result.tool_name);
        SEARCH_TOOLS.binary_search(&name.as_str()).is_ok() || more.contains(&name)
    };
    // Each new annotation directly follows its block and moves all later blocks by one.
    let mut moved = Vec::with_capacity(blocks.len());
    let mut count = 0;
    for block in &blocks {
        moved.push(count);
        count += if is_result(block) { 2 } else { 1 };
    }
    let to = |target: u64| {
        usize::try_from(target).ok().and_then(|at| moved.get(at)).map_or(target, |at| *at)
    };
    let mut tagged = Vec::with_capacity(blocks.len());
    for block in blocks {
        let is_result = is_result(&block);
        tagged.push(block.with_target(to));
        if is_result {
            let tag = Tag::new(Tag::CATEGORY, category::SEARCH_RESULTS);
            tagged.push(Block::new(Annotation::tag(tagged.len() as u64 - 1, &tag)));
        }
    }
    tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_search_tools_is_sorted_and_normalized() {
        assert!(SEARCH_TOOLS.is_sorted());
        assert_eq!(SEARCH_TOOLS.map(normalize_tool_name).as_slice(), SEARCH_TOOLS);
    }
}
