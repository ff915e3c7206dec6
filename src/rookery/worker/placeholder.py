"""Names that exist in SDK v1 and not here yet: they import, and raise one clear error when used.

Runs on Python 3.6, because scripts in old environments import such names too.
"""

from rookery.errors import UnsupportedError

__all__ = ["is_placeholder", "placeholder"]


def placeholder(name, module, advice=""):
    """A stand-in for `module.name`: importable and printable; UnsupportedError when called, subclassed or
    looked into."""
    text = "{}.{} is part of Azure ML SDK v1 and not available in Rookery {}."
    text = text.format(module, name, advice or "yet")
    return _PlaceholderType(name, (), {"__module__": module, "__doc__": text, "__placeholder__": text})


def is_placeholder(value):
    return isinstance(value, _PlaceholderType)


class _PlaceholderType(type):
    """The type of placeholders. Dunder and IPython's `_repr_…_` lookups answer as for any class, so that
    tools can look."""

    def __new__(mcs, name, bases, namespace):
        for base in bases:
            if isinstance(base, _PlaceholderType):
                base._refuse("class {}({})".format(name, base.__name__))
        return super(_PlaceholderType, mcs).__new__(mcs, name, bases, namespace)

    def _refuse(cls, use):
        text = "{} Used here as: {}. See docs/compatibility.md for what there is."
        raise UnsupportedError(text.format(cls.__placeholder__, use))

    def __call__(cls, *args, **kwargs):
        cls._refuse("{}(…)".format(cls.__name__))

    def __getattr__(cls, name):
        if name.startswith("_") and name.endswith("_"):
            raise AttributeError(name)
        cls._refuse("{}.{}".format(cls.__name__, name))

    def __getitem__(cls, key):
        cls._refuse("{}[…]".format(cls.__name__))

    def __iter__(cls):
        cls._refuse("for … in {}".format(cls.__name__))

    def __contains__(cls, item):
        cls._refuse("… in {}".format(cls.__name__))

    def __len__(cls):
        cls._refuse("len({})".format(cls.__name__))

    def __bool__(cls):
        return True

    def __repr__(cls):
        return "<placeholder {}.{}>".format(cls.__module__, cls.__name__)
