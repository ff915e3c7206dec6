"""uv's words become a sentence that names the package. The outputs are uv's own, of version 0.13."""

import pytest

from rookery.environments.building.reasons import explain

SOLUTION = "Resolving\nerror: No solution found when resolving dependencies\n  cause: "
OUTPUTS = [
    (
        SOLUTION + "Because nosuch was not found in the package registry and you require nosuch, we can conclude …",
        "'nosuch'",
        "no index has a package of this name",
    ),
    (
        SOLUTION + "Because there is no version of six==99 and you require six==99, we …",
        "'six'",
        "no index has this version",
    ),
    (
        SOLUTION
        + "Because torch==1.6.0 has no wheels with a matching Python ABI tag (e.g., `cp311`) and you require torch==1.6.0, we …",
        "'torch'",
        "Python version",
    ),
    (
        SOLUTION + "Because only numpy>=1.3.0 is available and you require numpy<1, we can conclude",
        "'numpy'",
        "meets the condition",
    ),
    (
        SOLUTION
        + "Because flask==2.0.0 depends on jinja2>=3.0 and you require flask==2.0.0, we can conclude that you require jinja2>=3.0.",
        "'flask'",
        "contradict",
    ),
    (SOLUTION + "Because all versions of flask depend on alpha<2 and you require flask", "'flask'", "contradict"),
    (
        SOLUTION + "Because there are no versions of deep and flask==2.0.0 depends on deep, we",
        "'deep', which 'flask' needs",
        "no index",
    ),
    (
        "error: Failed to build `pycurl==7.43.0`\n  cause: The build backend returned an error",
        "'pycurl'",
        "does not build",
    ),
    (
        "error: Request failed after 3 retries in 5.5s\n  cause: Failed to fetch: "
        "https://i.example/simple/six/\n  cause: dns error",
        "https://i.example/simple/six/",
        "cannot be reached",
    ),
    ("error: Failed to extract archive\n  cause: No space left on device (os error 28)", "disk is full", "prune"),
    ("something quite new", "something quite new", "could not be built"),
]


class TestExplain:
    @pytest.mark.parametrize(("output", "package", "reason"), OUTPUTS, ids=[o[1] for o in OUTPUTS])
    def test_names_package_and_reason(self, output, package, reason):
        text = explain(output, "mine", ["nosuch", "six", "torch", "numpy", "flask", "pycurl"])
        assert text.startswith("Environment 'mine' could not be built")
        assert package in text
        assert reason in text
