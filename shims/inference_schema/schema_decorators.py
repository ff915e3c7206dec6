"""`input_schema` and `output_schema`: what a scoring function takes and gives, by samples."""

import functools
import inspect

__all__ = ["input_schema", "output_schema"]


def input_schema(param_name, param_type, convert_to_provided_type=True, optional=False):
    """The argument of this name is like the sample; what callers send is converted to it."""

    def decorate(function):
        kept = _kept(function)
        kept["input"][param_name] = (param_type, optional)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if convert_to_provided_type:
                if param_name in kwargs:
                    kwargs[param_name] = param_type.deserialize_input(kwargs[param_name])
                else:
                    args = _convert_positional(function, args, param_name, param_type)
            return function(*args, **kwargs)

        wrapper.__inference_schema__ = kept
        return wrapper

    return decorate


def output_schema(output_type):
    """What the function gives is like the sample; this is for swagger.json alone."""

    def decorate(function):
        kept = _kept(function)
        kept["output"] = output_type

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        wrapper.__inference_schema__ = kept
        return wrapper

    return decorate


def _kept(function):
    return getattr(function, "__inference_schema__", None) or {"input": {}, "output": None}


def _convert_positional(function, args, name, param_type):
    names = list(inspect.signature(function).parameters)
    place = names.index(name) if name in names else -1
    if not 0 <= place < len(args):
        return args
    given = list(args)
    given[place] = param_type.deserialize_input(given[place])
    return tuple(given)
