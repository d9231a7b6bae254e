"""One typed client per service: domain values in, domain values out.

Every constructor takes a channel (`libs/runtime/network.py`), whose business deadlines and errors
are; a client only translates.
"""
