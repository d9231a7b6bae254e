"""The KWOK cloud: instances that are nothing but Node objects; the reference provider.

Owns the Nodes whose provider id begins with `kwok://` until lifecycle has registered them. Serves
`joiner.provider.v1.CloudProviderService`. Behaves as Karpenter's KWOK provider does, except that
node names and the choice among equal prices follow from the claim, so that a repeated launch makes
nothing new, and that a node's capacity is its type's, not the claim's requests.
"""
