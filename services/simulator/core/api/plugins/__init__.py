"""Admission plug-ins, one idea each, and the table that orders them."""
