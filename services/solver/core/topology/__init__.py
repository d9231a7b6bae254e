"""What pods mean for each other: counts by domain, and the rules that read them.

`algebra` is the seam to the kernel, which counts, judges and places.
"""
