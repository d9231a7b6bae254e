"""Small generic structures that know nothing of clusters; several services share them."""
