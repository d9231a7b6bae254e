"""Dumps: everything of a cluster that an autoscaler can see, in one file that can be sent.

`choosing` says which kinds are in it, `redaction` what of an object is never kept, `capturing`
takes it from a cluster, `files` writes and describes it. It is read like any file of objects
(`libs.kube.document_files`): it is one.
"""
