#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lcp_testkit::properties::records(data));
