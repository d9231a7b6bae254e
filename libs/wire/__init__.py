"""The only place where protobuf messages meet domain values.

A module per file of `proto/`, plain functions, `encode_x` beside `decode_x`. Laws:
- `decode(encode(x)) == x` for every domain value whose lists are sorted where the proto says so.
- Encoding is canonical: equal values are equal bytes.
- Decoding is strict: whatever the proto refuses raises `InvalidRequest` with the field's path
  (`nodes[3].allocatable.cpu`), and nothing else is ever raised. Enum numbers of a newer peer are
  read as the proto's comment says, and refused where it says nothing.
"""
