"""What a tuning says of a child that has no value of the primary metric: users' commonest mistake."""

from __future__ import annotations

import pytest

from rookery.tune.telling import missing_metric


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (
            {},
            "without logging the primary metric 'accuracy'. It logged nothing. Log it with run.log('accuracy', number)",
        ),
        ({"loss": "scalar"}, "It logged: loss. Log it"),
        ({"loss": "scalar", "Accuracy": "scalar"}, "It logged: loss, Accuracy. Did you mean 'Accuracy'? Log it"),
        ({"acuracy": "list"}, "Did you mean 'acuracy'?"),
        ({"val_accuracy": "list"}, "Did you mean 'val_accuracy'?"),
        ({"accuracy": "table"}, "as a number: it logged a table of that name."),
        ({"accuracy": "scalar"}, "logged the primary metric 'accuracy', but never as a number"),
        ({f"m{i}": "scalar" for i in range(12)}, "m8, m9 …."),
    ],
)
def test_says_what_was_logged_and_what_was_meant(kinds, words):
    assert words in missing_metric("HD_1_0", "accuracy", kinds)
