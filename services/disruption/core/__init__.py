"""How disruption decides: a snapshot, an instant and the commands under way in; a verdict out.

Words: a *question* is all that a pass decides on; a *candidate* is a node that nothing
disqualifies, whatever the method; a *method* is a way of disrupting, with its own conditions; a
*move* is what one command does.

Layers, each importing only those before it: `question` → `prices`, `costs` → `candidates`,
`budgets` → `methods` → `decide`.
"""
