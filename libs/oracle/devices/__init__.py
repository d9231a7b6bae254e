"""Dynamic resource allocation: which devices would the scheduler give to a pod on a node?

Naive on purpose: what is chosen so far is one list, and every question (is it free, what is
consumed, does the constraint hold) is answered by looking through that list.

- `inventory`: ResourceSlices → the pools of devices that one node reaches.
- `attributes`: what selectors and constraints read of a device.
- `amounts`: how much of a device's capacity a request consumes.
- `claims`: the ResourceClaims of a pod, what they ask for, what allocated ones hold.
- `extended`: the claim of a pod whose extended resources are devices.
- `search`: the search itself.
- `binding`: what it writes into the claims.

Source: the Kubernetes documentation of dynamic resource allocation and the API documentation of
`resource.k8s.io/v1`; what kube-scheduler 1.36 has on by default (admin access, prioritised lists,
partitionable devices, consumable capacity, device taints, binding conditions, extended resources).
Off by default there and so not here: DeviceTaintRules, attributes that are lists, devices that
stand for node resources, claims of PodGroups. Not here for want of a clock: that binding conditions
time out.

On purpose unlike it:

- An error (a selector that fails, a pool that is being updated while all devices are asked for)
  refuses the node; kube-scheduler gives up the whole attempt.
- `distinctAttribute` holds among all devices of a request, as the API documentation says;
  kube-scheduler 1.36 compares only with the latest device of each request.
- A claim with 256 consumers takes no more: kube-scheduler finds that out when it writes.
"""
