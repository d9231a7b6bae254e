"""The receiving side of `snapshot/v1`, once for every service that decides on snapshots."""
