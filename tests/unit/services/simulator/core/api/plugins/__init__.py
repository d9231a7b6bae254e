"""Tests of admission plug-ins."""
