"""Every decision of lifecycle, pure: live objects and an instant in, one step out.

Laws:
- A step is derived from live objects alone, so that a crash between any two writes loses nothing:
  the next look derives what is left to do.
- A step writes an object at most once; after it the objects are looked at again.
"""
