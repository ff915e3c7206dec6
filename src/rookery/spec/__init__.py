"""Pure data shared by both sides: no I/O, standard library only, Python 3.9 and newer."""
