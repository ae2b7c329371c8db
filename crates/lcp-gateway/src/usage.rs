//! The usage that a provider reports in its response.

use serde_json::Value;

/// The maximum size in bytes of a line of a stream, and of a response that is no stream. The usage of
/// larger ones is not read.
const BYTES_MAX: usize = 8 << 20;

/// The tokens of a request, as billed. Each counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that no cache had, and that were not written to it.
    pub input: u64,
    /// Tokens that were written to the cache for five minutes.
    pub written: u64,
    /// Tokens that were written to the cache for an hour.
    pub written_hour: u64,
    /// Tokens that were read from the cache.
    pub read: u64,
    /// Tokens of the response.
    pub output: u64,
}

impl Usage {
    /// Returns the tokens of the request.
    #[must_use]
    pub const fn request_tokens(&self) -> u64 {
        self.input + self.written + self.written_hour + self.read
    }

    /// Returns whether the provider did not cache the messages of a request. If the client did not ask for that,
    /// `head` has the bytes of the head, which may be cached, and of the request.
    #[cfg(feature = "proxy")]
    pub(crate) fn is_uncached(&self, head: Option<(u64, u64)>) -> bool {
        let (cached, total) = (self.request_tokens() - self.input, self.request_tokens());
        let is_head = match head {
            None => cached == 0,
            Some((head, all)) => {
                let [cached, total, head, all] = [cached, total, head, all].map(u128::from);
                // Tokens of the head can have fewer bytes than those of messages: at most a fourth more are
                // cached than its share. And that is closer to the head than to the request.
                4 * cached * all <= 5 * total * head && 2 * cached * all <= total * (head + all)
            }
        };
        is_head && self.input > 0
    }

    /// Reads the fields that an object has. A stream reports some of them again at its end.
    fn update(&mut self, usage: &Value) {
        let number = |name: &str| usage.pointer(name).and_then(Value::as_u64);
        let set = |field: &mut u64, value: Option<u64>| *field = value.unwrap_or(*field);
        set(&mut self.output, number("/output_tokens").or(number("/completion_tokens")));
        let cached = number("/input_tokens_details/cached_tokens")
            .or(number("/prompt_tokens_details/cached_tokens"));
        let total = number("/prompt_tokens").or(number("/input_tokens"));
        let is_openai = number("/total_tokens").is_some() || cached.is_some();
        if is_openai && let Some(total) = total {
            self.read = cached.unwrap_or_default();
            self.input = total.saturating_sub(self.read);
            return;
        }
        set(&mut self.input, number("/input_tokens"));
        set(&mut self.read, number("/cache_read_input_tokens"));
        if let Some(written) = number("/cache_creation_input_tokens") {
            let hour = number("/cache_creation/ephemeral_1h_input_tokens");
            self.written_hour = hour.unwrap_or(self.written_hour).min(written);
            self.written = written - self.written_hour;
        }
    }
}

/// The usage in a response, with the model that answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedUsage {
    /// The tokens.
    pub usage: Usage,
    /// The model, if the response names it.
    pub model: Option<String>,
}

/// A reader of a response, which sees a copy of its bytes as they arrive.
#[derive(Debug)]
pub struct UsageReader {
    is_stream: bool,
    /// The present line of a stream, or the response until now.
    bytes: Vec<u8>,
    /// `true` if the present line is too long.
    is_too_long: bool,
    reported: Option<ReportedUsage>,
}

impl UsageReader {
    /// Creates a reader for a stream of events, or for one JSON value.
    #[must_use]
    pub const fn new(is_stream: bool) -> Self {
        Self { is_stream, bytes: Vec::new(), is_too_long: false, reported: None }
    }

    /// Reads the next bytes.
    pub fn read(&mut self, bytes: &[u8]) {
        if !self.is_stream {
            return self.add(bytes);
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n' || *byte == b'\r') {
            self.add(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.add(rest);
    }

    /// Returns the usage, if the response has one.
    #[must_use]
    pub fn finish(mut self) -> Option<ReportedUsage> {
        if self.is_stream {
            self.end_line();
        } else if !self.is_too_long {
            let bytes = std::mem::take(&mut self.bytes);
            self.find(&bytes);
        }
        self.reported
    }

    fn add(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.bytes.len() + bytes.len() > BYTES_MAX;
        if self.is_too_long {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.bytes);
        if !std::mem::take(&mut self.is_too_long)
            && let Some(data) = line.strip_prefix(b"data:")
        {
            self.find(data);
        }
        self.bytes = line;
        self.bytes.clear();
    }

    /// Looks for the usage in a JSON value: at the top, or in the message or response of an event.
    fn find(&mut self, json: &[u8]) {
        const NAME: &[u8] = b"\"usage\"";
        if !json.windows(NAME.len()).any(|part| part == NAME) {
            return;
        }
        let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
        for place in ["", "/message", "/response"] {
            let Some(response) = value.pointer(place) else { continue };
            let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) else {
                continue;
            };
            let reported = self.reported.get_or_insert_default();
            reported.usage.update(usage);
            if let Some(model) = response.get("model").and_then(Value::as_str) {
                reported.model = Some(model.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a response in pieces of each size.
    #[track_caller]
    fn check(is_stream: bool, response: &str, expected: Option<Usage>) {
        for size in [1, 2, 3, 7, 64, response.len().max(1)] {
            let mut reader = UsageReader::new(is_stream);
            response.as_bytes().chunks(size).for_each(|part| reader.read(part));
            let usage = reader.finish().map(|reported| reported.usage);
            assert_eq!(usage, expected, "pieces of {size} bytes");
        }
    }

    #[test]
    fn anthropic_streams_report_it_twice() {
        let stream = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\
            \"input_tokens\":3,\"cache_creation_input_tokens\":50,\"cache_read_input_tokens\":700,\
            \"cache_creation\":{\"ephemeral_5m_input_tokens\":20,\"ephemeral_1h_input_tokens\":30},\
            \"output_tokens\":1}}}\r\n\r\nevent: x\ndata: {\"delta\":{\"text\":\"\\\"usage\\\": no\"}}\n\n\
            event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\n";
        let usage = Usage { input: 3, written: 20, written_hour: 30, read: 700, output: 9 };
        check(true, stream, Some(usage));
        assert_eq!(usage.request_tokens(), 753);
    }

    #[test]
    fn openai_counts_cached_tokens_as_input() {
        let responses = "data: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\n\n\
            data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":100,\
            \"input_tokens_details\":{\"cached_tokens\":64},\"output_tokens\":5,\"total_tokens\":105}}}";
        let usage = Usage { input: 36, read: 64, output: 5, ..Usage::default() };
        check(true, responses, Some(usage));
        let chat = r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,
            "prompt_tokens_details":{"cached_tokens":64},"total_tokens":105}}"#;
        check(false, chat, Some(usage));
    }

    #[cfg(feature = "proxy")]
    #[test]
    fn uncached_messages_are_recognized() {
        let check = |usage: [u64; 3], head: Option<(u64, u64)>, expected: bool| {
            let [input, read, written] = usage;
            let usage = Usage { input, written, read, ..Usage::default() };
            assert_eq!(usage.is_uncached(head), expected, "{usage:?} {head:?}");
        };
        check([9, 0, 0], None, true);
        for cached in [[9, 1, 0], [9, 0, 1], [0, 0, 0]] {
            check(cached, None, false);
        }
        // Nothing is cached; the head is; more is.
        let head = Some((4_000, 10_000));
        check([1_000, 0, 0], head, true);
        check([600, 0, 400], head, true);
        check([500, 500, 0], head, true);
        check([499, 501, 0], head, false);
        check([100, 900, 0], head, false);
        check([900, 100, 0], Some((0, 10_000)), false);
        check([50, 950, 0], Some((8_500, 10_000)), false);
        check([150, 850, 0], Some((8_500, 10_000)), true);
    }

    #[test]
    fn model_is_that_of_the_response() {
        for (is_stream, response) in [
            (
                true,
                "data: {\"message\":{\"model\":\"m\",\"usage\":{}}}\n\ndata: {\"usage\":{}}\n\n",
            ),
            (true, "data: {\"response\":{\"model\":\"m\",\"usage\":{}},\"model\":\"no\"}\n\n"),
            (false, r#"{"model":"m","usage":{}}"#),
        ] {
            let mut reader = UsageReader::new(is_stream);
            reader.read(response.as_bytes());
            assert_eq!(reader.finish().unwrap().model.as_deref(), Some("m"), "{response}");
        }
    }

    #[test]
    fn responses_without_usage_have_none() {
        check(true, "data: {\"usage\":null}\n\ndata: [DONE]\n\n", None);
        check(false, r#"{"type":"error","error":{"message":"no \"usage\""}}"#, None);
        check(false, "", None);
    }

    #[test]
    fn lines_that_are_too_long_are_left_out() {
        let mut reader = UsageReader::new(true);
        reader.read(b"data: {\"usage\":{\"output_tokens\":7},\"x\":\"");
        (0..9).for_each(|_| reader.read(&vec![b'x'; 1 << 20]));
        assert!(reader.bytes.capacity() < BYTES_MAX);
        reader.read(b"\"}\n\ndata: {\"usage\":{\"output_tokens\":3}}\n\n");
        assert_eq!(reader.finish().unwrap().usage, Usage { output: 3, ..Usage::default() });
    }
}
