"""horovod.common: the parts that scripts import."""
