import pickle

import pytest

from rookery import errors


class TestErrors:
    def test_every_class_is_exported_named_and_coded(self):
        classes = errors.all_errors()
        names = {cls.__name__ for cls in classes.values()}
        assert names == {n for n in errors.__all__ if n.endswith("Error")}
        assert len(classes) == len(names), "two classes share a code"

    def test_every_class_is_in_the_tree_of_the_docstring(self):
        for cls in errors.all_errors().values():
            assert cls.__name__ in errors.__doc__

    @pytest.mark.parametrize("cls", errors.all_errors().values(), ids=lambda c: c.__name__)
    def test_travels_by_pickle_and_by_code(self, cls):
        error = cls("what was given", details={"a": 1})
        for copy in (pickle.loads(pickle.dumps(error)), errors.error_from_code(cls.code, error.message, error.details)):
            assert type(copy) is cls
            assert str(copy) == copy.message == "what was given"
            assert copy.details == {"a": 1}

    def test_an_unknown_code_is_a_service_error(self):
        assert type(errors.error_from_code("from_the_future", "x")) is errors.ServiceError
