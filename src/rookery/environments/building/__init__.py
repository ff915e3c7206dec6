"""From a plan to a lock to a built environment, once per machine, and what is built already."""
