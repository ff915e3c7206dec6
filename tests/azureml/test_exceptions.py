from __future__ import annotations

import pickle

import pytest

from rookery import errors
from rookery.azureml import exceptions


class TestAliases:
    @pytest.mark.parametrize(
        ("name", "ours"),
        [
            ("AzureMLException", errors.RookeryError),
            ("UserErrorException", errors.UserError),
            ("UserErrorException", errors.ConfigError),
            ("ComputeTargetException", errors.ComputeNotFoundError),
            ("ActivityFailedException", errors.RunFailedError),
            ("ExperimentExecutionException", errors.SubmitError),
            ("RunConfigurationException", errors.RunConfigError),
            ("WebserviceException", errors.ModelNotFoundError),
            ("ModelNotFoundException", errors.ModelNotFoundError),
            ("WorkspaceException", errors.WorkspaceNotFoundError),
            ("ServiceException", errors.KeeperUnavailableError),
            ("AuthenticationException", errors.AuthenticationError),
        ],
    )
    def test_v1_name_catches_ours(self, name, ours):
        with pytest.raises(getattr(exceptions, name)):
            raise ours("x")

    @pytest.mark.parametrize("name", exceptions.__all__)
    def test_is_made_as_in_v1(self, name):
        cls = getattr(exceptions, name)
        cause = ValueError("why")
        made = cls("what", inner_exception=cause)
        assert "what" in made.message
        assert "what" in str(made)
        assert made.inner_exception is cause
        assert pickle.loads(pickle.dumps(made)).message == made.message

    @pytest.mark.parametrize("name", sorted(set(exceptions.__all__) - {"DiscoveryUrlNotFoundException"}))
    def test_the_message_may_have_a_name(self, name):
        keyword = "error_details" if name == "ActivityFailedException" else "exception_message"
        assert getattr(exceptions, name)(**{keyword: "what"}).message == "what"

    def test_extra_attributes(self):
        assert exceptions.WebserviceException("x", status_code=404).status_code == 404
        assert exceptions.WebserviceException("x").status_code is None
        assert exceptions.WorkspaceException("x").found_multiple is False

    def test_the_classes_of_our_codes_are_still_ours(self):
        assert all(cls.__module__ == "rookery.errors" for cls in errors.all_errors().values())
