"""Models that score many requests as one: decode each, put equal ones together, run once, cut the result, encode each."""

import sys
import time
import traceback

from .answers import TEXT, Answer, BadInput
from .tensors import group

__all__ = ["Batched"]


class Batched(object):
    """Subclasses have `decode(head, body)` → something with `rows` and `signature()`, `run(list of those)` → one result for each, and
    `encode(one, result)` → Answer.

    Promises: one request that is wrong spoils no other; each has its own timings, and how many it was scored with.
    """

    batches = True
    wants_request = False

    def init(self):
        raise NotImplementedError

    def decode(self, head, body):
        raise NotImplementedError

    def run(self, asked):
        raise NotImplementedError

    def encode(self, one, result):
        raise NotImplementedError

    def is_refusal(self, error):
        """Whether the library says with this that the input is not what the model takes (then 400, not 500)."""
        return False

    def swagger(self, name, version):
        from .schemas import swagger

        return swagger(None, name, version, {"input": {"type": "object", "properties": {"data": {"type": "array"}}}})

    def score(self, request):
        return self.score_many([request])[0]

    def score_many(self, requests):
        asked, answers, spent = [], [None] * len(requests), []
        for place, (head, body) in enumerate(requests):
            began = time.perf_counter()
            try:
                asked.append(self.decode(head, body))
            except BadInput as error:
                asked.append(None)
                answers[place] = Answer(str(error).encode("utf-8"), 400, TEXT)
            spent.append((time.perf_counter() - began) * 1000)
        for places in group(asked, lambda one: one.signature()):
            self._run_group(places, asked, answers, spent)
        return answers

    def _run_group(self, places, asked, answers, spent):
        began = time.perf_counter()
        try:
            results = self.run([asked[p] for p in places])
        except Exception as error:
            if len(places) > 1:  # one of them is at fault, or all are: each is told for itself
                for place in places:
                    self._run_group([place], asked, answers, spent)
                return
            words = "The model failed on this input: {}".format(str(error)[:1000]).encode("utf-8", "replace")
            if self.is_refusal(error):
                answers[places[0]] = Answer(words, 400, TEXT)
                return
            traceback.print_exc()
            sys.stderr.flush()
            answers[places[0]] = Answer(words, 500, TEXT, failed=True)
            return
        ran = (time.perf_counter() - began) * 1000
        for place, result in zip(places, results):
            start = time.perf_counter()
            answer = self.encode(asked[place], result)
            coded = (time.perf_counter() - start) * 1000
            answer.timings = {"decode": spent[place], "run": ran, "encode": coded}
            answer.batch = len(places)
            answers[place] = answer
