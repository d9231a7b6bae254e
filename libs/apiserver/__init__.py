"""What a Kubernetes API server knows of its objects: their fields, schemas and rules.

Apart because two ask: the simulator, which is an API server, and the reader of files, in which
stands what no API server has seen yet. Pure functions of plain JSON values; no HTTP, no storage.

    types    fields of the built-in types; values into canonical form, unknown fields
    crd      custom resources: structural schemas, rules in CEL
    rules    validation of the built-in kinds, in the API server's words
"""
