"""Who owns which field: sets of fields, managers, and server-side apply on top of them."""
