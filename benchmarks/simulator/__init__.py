"""`joiner bench simulator`: how fast and how small the simulated cluster is, over real HTTP."""
