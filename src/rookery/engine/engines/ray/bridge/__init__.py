"""What runs outside the keeper: the bridge in an environment with the cluster's Ray, and what it sends to nodes.

Nothing here imports rookery: neither the bridge's environment nor the cluster has it. Python 3.9+.
"""
