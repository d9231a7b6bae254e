"""What is wrong with objects of the built-in kinds, in the words of the API server.

All functions take objects in canonical form with their defaults (`types.codec`, `podspec`).
"""
