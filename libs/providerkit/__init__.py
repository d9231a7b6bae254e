"""What every provider service is made of: the port with its laws, the gRPC edge, measurement.

A third party writes one class that keeps the laws of `port.CloudProvider`; the rest is here.
"""
