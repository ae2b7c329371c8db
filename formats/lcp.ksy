meta:
  id: lcp
  title: LLM Context Pack
  file-extension: lcp
  license: MIT OR Apache-2.0
  endian: le
  bit-endian: le
doc: |
  A stream of typed blocks: what a language model should see. This description covers
  every byte of a pack that is not compressed as a whole; bodies that are compressed,
  or that are references, are left as bytes. The normative text is RFC 0001.
seq:
  - id: header
    type: header
  - id: blocks
    type: block
    repeat: until
    repeat-until: _.is_end
    if: not header.is_payload_compressed
  - id: payload
    size-eos: true
    if: header.is_payload_compressed
    doc: One or more zstd frames that hold the blocks, END among them.
  - id: rest
    size-eos: true
    if: not header.is_payload_compressed
    doc: An index trailer where the header announces one; else there should be nothing.
types:
  header:
    seq:
      - id: magic
        size: 4
        valid:
          any-of:
            - '[0x4c, 0x43, 0x50, 0x00]'
            - '[0x42, 0x43, 0x50, 0x00]'
      - id: major
        contents: [1]
      - id: minor
        type: u1
      - id: is_payload_compressed
        type: b1
      - id: has_trailer
        type: b1
      - id: reserved_flags
        type: b6
      - id: reserved
        contents: [0]
  varint:
    doc: An unsigned LEB128 number of at most ten bytes.
    seq:
      - id: groups
        type: group
        repeat: until
        repeat-until: not _.has_next or _index == 9
    instances:
      num_groups:
        value: groups.size
      value:
        value: >-
          groups[0].value
          + (num_groups > 1 ? (groups[1].value << 7) : 0)
          + (num_groups > 2 ? (groups[2].value << 14) : 0)
          + (num_groups > 3 ? (groups[3].value << 21) : 0)
          + (num_groups > 4 ? (groups[4].value << 28) : 0)
          + (num_groups > 5 ? (groups[5].value << 35) : 0)
          + (num_groups > 6 ? (groups[6].value << 42) : 0)
          + (num_groups > 7 ? (groups[7].value << 49) : 0)
          + (num_groups > 8 ? (groups[8].value << 56) : 0)
          + (num_groups > 9 ? (groups[9].value << 63) : 0)
    types:
      group:
        seq:
          - id: value
            type: b7
          - id: has_next
            type: b1
  block:
    seq:
      - id: type_id
        type: varint
      - id: has_summary
        type: b1
      - id: is_compressed
        type: b1
      - id: is_reference
        type: b1
      - id: reserved_flags
        type: b5
      - id: len_body
        type: varint
      - id: body
        size: len_body.value
        type:
          switch-on: form
          cases:
            form::plain: body(has_summary)
            form::reference: reference
    instances:
      is_end:
        value: type_id.value == 0xff
      type:
        value: type_id.value
        enum: block_type
      is_known:
        value: >-
          (type_id.value >= 0x01 and type_id.value <= 0x0a) or type_id.value == 0xfe
      form:
        value: >-
          is_reference ? form::reference
          : is_compressed ? form::compressed
          : is_known ? form::plain : form::opaque
  reference:
    doc: The BLAKE3 hash of a body that is kept elsewhere.
    seq:
      - id: hash
        size: 32
  body:
    params:
      - id: has_summary
        type: bool
    seq:
      - id: summary
        type: text
        if: has_summary
      - id: fields
        type: field
        repeat: eos
  text:
    seq:
      - id: len_value
        type: varint
      - id: value
        type: str
        encoding: UTF-8
        size: len_value.value
  bytes:
    seq:
      - id: len_value
        type: varint
      - id: value
        size: len_value.value
  record:
    seq:
      - id: len_fields
        type: varint
      - id: fields
        size: len_fields.value
        type: fields
  fields:
    seq:
      - id: fields
        type: field
        repeat: eos
  field:
    doc: What a field means depends on the type of its block (RFC 0001, section 7).
    seq:
      - id: id
        type: varint
      - id: wire_type
        type: varint
      - id: value
        type:
          switch-on: wire_type.value
          cases:
            0: varint
            1: bytes
            2: record
enums:
  form:
    0: plain
    1: compressed
    2: reference
    3: opaque
  block_type:
    0x01: code
    0x02: conversation
    0x03: file_tree
    0x04: tool_result
    0x05: document
    0x06: structured_data
    0x07: diff
    0x08: annotation
    0x09: embedding_ref
    0x0a: image
    0xfe: extension
    0xff: end
