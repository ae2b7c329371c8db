#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lcp_testkit::properties::notebooks(data));
