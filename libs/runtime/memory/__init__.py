"""gRPC without sockets: the same servicers, stubs, bytes, guard and errors, in one process.

For tests on a loop with simulated time, which real sockets cannot join. A network knows which
server listens where; servers may stop, start again or be replaced at an address, and a channel
finds whoever listens at the time of each call.
"""
