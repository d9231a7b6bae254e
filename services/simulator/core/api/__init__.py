"""The API server: storage, admission, HTTP semantics; synchronous, without a transport."""
