"""Decides which nodes to disrupt, when, and says of every node why not.

Reads pushed snapshots, writes nothing itself: lifecycle carries out its commands and publishes its
decisions. Serves `joiner.disruption.v1.DisruptionService`.

Where to look: `core/decide.py` (snapshot in, commands and decisions out), `core/methods` (one
module per way of disrupting, listed in order in one place), `loop.py` (when and how commands are
sent).
"""
