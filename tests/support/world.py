"""The world of services in one process, by the name that tests know it by."""

from libs.runtime.world import START, Running, World, a_runtime

__all__ = ["START", "Running", "World", "a_runtime"]
