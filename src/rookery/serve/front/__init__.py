"""The front of an endpoint: a process of its own that takes requests and hands them to scoring processes."""
