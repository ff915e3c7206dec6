"""What torchrun is, in small, and by its name: starts the ranks of a node, stops all when one has failed, and says nothing about which."""

import os
import subprocess
import sys
import time

per_node, node = int(sys.argv[1]), int(os.environ["NODE_RANK"])
ranks = []
for i in range(per_node):
    mine = dict(os.environ, RANK=str(node * per_node + i), LOCAL_RANK=str(i))
    ranks.append(subprocess.Popen([sys.executable, *sys.argv[2:]], env=mine))
while True:
    codes = [rank.poll() for rank in ranks]
    if any(codes):
        for rank in ranks:
            rank.terminate()
        for rank in ranks:
            rank.wait()
        sys.exit(1)
    if all(code == 0 for code in codes):
        sys.exit(0)
    time.sleep(0.03)
