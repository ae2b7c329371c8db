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
  or that are references, are left as bytes. The normative text is RFC 0001, and RFC 0003
  for what stands behind the blocks. Checksums are named, not checked.
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
  - id: index
    type: index
    if: header.is_lcp and header.has_index and not header.is_payload_compressed and not _io.eof
    doc: An index of the blocks and their checksums.
  - id: rest
    size-eos: true
    if: not header.is_payload_compressed
    doc: There should be nothing.
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
      - id: has_index
        type: b1
      - id: reserved_flags
        type: b6
      - id: reserved
        contents: [0]
    instances:
      is_lcp:
        value: magic[0] == 0x4c
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
  index:
    seq:
      - id: frame
        type: index_frame
      - id: footer
        type: footer
  index_frame:
    seq:
      - id: type_id
        contents: [0xfd, 0x01]
      - id: flags
        contents: [0]
      - id: len_body
        type: varint
      - id: body
        size: len_body.value
        type: columns
  columns:
    seq:
      - id: columns
        type: column
        repeat: eos
  column:
    doc: |
      Dense columns have an entry for each block, sparse ones pairs: how much the block's
      index exceeds the one before, and what is said of it.
    seq:
      - id: id
        type: varint
      - id: wire_type
        type: varint
      - id: len_entries
        type: varint
      - id: entries
        size: len_entries.value
        type:
          switch-on: name
          cases:
            column_name::types: codes
            column_name::flags: codes
            column_name::lengths: varints
            column_name::checks: checks
            column_name::priorities: coded
            column_name::metadata: varints
            column_name::pinned: varints
            column_name::ranks: ranks
            column_name::category_names: texts
            column_name::categories: pairs
            column_name::calls: pairs
            column_name::newest_user: varints
            column_name::summaries: pairs
            column_name::said: pairs
            column_name::labels: varints
            column_name::label_text: utf8
            column_name::costs: costs
            column_name::hashes: hashes
    instances:
      name:
        value: id.value
        enum: column_name
  codes:
    seq:
      - id: codes
        type: u1
        repeat: eos
  varints:
    seq:
      - id: numbers
        type: varint
        repeat: eos
  checks:
    seq:
      - id: checks
        type: u4
        repeat: eos
  coded:
    seq:
      - id: pairs
        type: pair
        repeat: eos
    types:
      pair:
        seq:
          - id: gap
            type: varint
          - id: code
            type: u1
  ranks:
    seq:
      - id: pairs
        type: pair
        repeat: eos
    types:
      pair:
        seq:
          - id: gap
            type: varint
          - id: rank
            type: f8
  pairs:
    seq:
      - id: pairs
        type: pair
        repeat: eos
    types:
      pair:
        seq:
          - id: gap
            type: varint
          - id: value
            type: varint
  texts:
    seq:
      - id: texts
        type: text
        repeat: eos
  utf8:
    seq:
      - id: value
        type: str
        encoding: UTF-8
        size-eos: true
  hashes:
    seq:
      - id: hashes
        type: reference
        repeat: eos
  costs:
    doc: What the blocks cost in one encoding (RFC 0003, section 4).
    seq:
      - id: fields
        type: costs_field
        repeat: eos
  costs_field:
    seq:
      - id: id
        type: varint
      - id: wire_type
        type: varint
      - id: number
        type: varint
        if: wire_type.value == 0
      - id: len_entries
        type: varint
        if: wire_type.value != 0
      - id: entries
        size: len_entries.value
        if: wire_type.value != 0
        type:
          switch-on: id.value
          cases:
            1: utf8
            3: varints
            5: mode_costs
  mode_costs:
    seq:
      - id: fields
        type: mode_field
        repeat: eos
  mode_field:
    seq:
      - id: id
        type: varint
      - id: wire_type
        type: varint
      - id: len_entries
        type: varint
      - id: entries
        size: len_entries.value
        type:
          switch-on: id.value
          cases:
            1: utf8
            2: varints
            3: varints
            4: levels
  levels:
    seq:
      - id: blocks
        type: block_levels
        repeat: eos
  block_levels:
    seq:
      - id: gap
        type: varint
      - id: has_detailed
        type: b1
      - id: has_summary
        type: b1
      - id: has_tags
        type: b1
      - id: reserved
        type: b5
      - id: detailed
        type: varint
        if: has_detailed
      - id: summary
        type: varint
        if: has_summary
      - id: tags
        type: varint
        if: has_tags
  footer:
    seq:
      - id: end_offset
        type: u8
      - id: index_offset
        type: u8
      - id: index_len
        type: u8
      - id: blocks
        type: u8
      - id: blocks_check
        type: u4
      - id: index_check
        type: u4
      - id: version
        contents: [1, 0, 0, 0]
      - id: footer_check
        type: u4
      - id: magic
        contents: LCPINDEX
enums:
  column_name:
    1: types
    2: flags
    3: lengths
    4: checks
    5: priorities
    6: metadata
    7: pinned
    8: ranks
    9: category_names
    10: categories
    11: calls
    12: newest_user
    13: summaries
    14: said
    15: labels
    16: label_text
    17: costs
    18: hashes
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
