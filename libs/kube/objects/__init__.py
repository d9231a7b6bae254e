"""Kubernetes objects as immutable structs that hold only what planning reads.

Apart because the official client's models cost forty times as much to decode. Names are those of
Kubernetes in snake case; unknown fields are skipped, absent ones have their zero value, as in Go.

`decoding` turns bytes or parsed documents into structs, `kinds` says which struct a kind has; the
other modules only hold the structs.

Laws:
    - Structs are never changed; nothing in them refers back, so that the garbage collector need not
      look at them.
    - A null is an absent field.
"""
