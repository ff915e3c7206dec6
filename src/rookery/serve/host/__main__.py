"""`python -m _rookery_scoring SOCKET`: what to score with is in ROOKERY_SCORING (JSON). With `--http PORT` it answers HTTP itself,
as it does in an image that Model.package makes."""

import json
import os
import sys

from . import loop
from .models import make_model


def main(argv):
    _offer()
    asked = json.loads(os.environ.get("ROOKERY_SCORING") or "{}")
    if argv[:1] == ["--http"]:
        from .http_mode import serve_http

        return serve_http(int(argv[1]) if len(argv) > 1 else 5001, asked)
    listener = loop.listen(argv[0])
    try:
        model = make_model(asked)
        model.init()
        told = {
            "raw": bool(getattr(model, "wants_request", False)),
            "batches": bool(model.batches),
            "python": sys.version.split()[0],
            "swagger": {v: model.swagger(asked.get("service", "service"), v) for v in (2, 3)},
        }
    except BaseException as error:
        return loop.tell_failure(listener, error)
    sys.stdout.flush()
    return loop.serve(listener, model, told, float(asked.get("batch_wait_ms", 0)), int(asked.get("max_batch", 1)))


def _offer():
    """`azureml`, `inference_schema` and `rookery_vision`, where the environment has none of its own."""
    offered = os.environ.get("ROOKERY_OFFERED")
    if not offered or not os.path.isdir(offered):
        return
    try:
        import _rookery_offer  # type: ignore[import-not-found]
        import _rookery_torchvision_hook  # type: ignore[import-not-found]

        _rookery_offer.install(offered)
        _rookery_torchvision_hook.install()
    except ImportError as error:
        sys.stderr.write("rookery: {}\n".format(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
