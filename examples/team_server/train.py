"""What a member of the team submits: `rookery run train.py`."""

import os

from azureml.core import Run

run = Run.get_context()
for epoch in range(5):
    run.log("loss", 1.0 / (epoch + 1))
os.makedirs("outputs", exist_ok=True)
with open("outputs/labels.txt", "w") as f:
    f.write("chicken\nturkey\n")
print("trained")
