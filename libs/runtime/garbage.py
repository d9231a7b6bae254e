"""What lives long, kept from the collector of cycles.

Cluster state, snapshots, catalogues and their columns are hundreds of thousands of objects that
live for minutes to days and refer to each other without cycles: counting references frees them. By
default the collector looks at all that is new after every 700 allocations, and now and then at
everything, with all threads halted: half of the time that a snapshot of 10,000 pods takes, 120 ms
with 1,000 nodes when a decision takes 4 ms. Hence:

- it begins only after as many allocations as some 10,000 pods come to, so that none falls into most
  batches; it stays on, for what does end in cycles (errors, tasks): a few hundred objects a
  decision;
- modules are never looked at, nor is what was there when a service last said that something large
  was made: the watcher after its first lists, the solver after a new catalogue. Only then can any
  of it have become garbage;
- what is new is looked at early when a service has just sent an answer: to look at 100,000 objects
  takes 50 ms, for which a question would wait that happens to be asked then.
"""

import gc

_YOUNG = 100_000
"""Allocations, less those that were freed, until it looks at what they made."""
_SOON = _YOUNG // 4
"""As many as are looked at in time that goes unnoticed, with as many more to come meanwhile."""


class Spared:
    """What the collector does not look at: all there is when this is made, and at each call."""

    def __init__(self) -> None:
        gc.freeze()
        gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
        self._modules_only = True

    def all_there_is(self) -> None:
        """Collect what is garbage now, and keep all else from the collector until the next call."""
        if not self._modules_only:  # they are large, and the first answer waits for this
            gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._modules_only = False

    def early(self) -> None:
        """Look now at what is new, if it is so much that it would be looked at before long."""
        young, older, _ = gc.get_count()
        if young > _SOON:
            gc.collect(int(older > gc.get_threshold()[1]))
