"""Scenario scripts: what happens to the simulated cluster, and when.

`schema` is the file's form, `reading` makes it of a document by `rules`, `timing` says when steps
begin and end, `curves` what a load is at which instant. `player` plays it as one more part of the
cluster; what a step does is in `objects`, `machines` (by `fates`) and `requests` (by the weather,
`core.weather`). `journal` is what was done, and `chronicle` what came of it.

Laws: a script is data; playing it takes time only from the loop and draws only from the script's
own seed, so that the same script on the same cluster does the same at the same instants. What the
API refuses is told and stops nothing else.
"""
