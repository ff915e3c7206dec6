"""The program `rookery`: puts the verbs together, runs one, turns errors into an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Optional

import typer
from typer.core import TyperGroup

from rookery.cli import (
    audit,
    compute,
    data,
    datastore,
    db,
    deploy,
    doctor,
    download,
    endpoints,
    env,
    experiments,
    export,
    faults,
    gc,
    import_,
    init,
    keeper,
    login,
    logs,
    models,
    module,
    pipeline,
    predict,
    ps,
    run,
    server,
    session,
    show,
    stop,
    studio,
    token,
    top,
    tune,
    user,
    version,
    webhook,
)
from rookery.cli.failure import report
from rookery.cli.session import AsJson, InWorkspace

__all__ = ["app", "main"]

# Words that people bring from elsewhere, and what we call it.
SYNONYMS = {
    "cancel": "stop", "kill": "stop", "list": "ps", "ls": "ps", "runs": "ps", "submit": "run", "exec": "run",
    "hyperdrive": "tune", "sweep": "tune", "search": "tune", "log": "logs", "tail": "logs", "status": "show", "describe": "show", "inspect": "show", "get": "download",
    "serve": "server", "ui": "studio", "dashboard": "studio", "portal": "studio", "open": "studio", "new": "init", "create": "init", "cluster": "compute", "clusters": "compute",
    "dataset": "data", "datasets": "data", "datastores": "datastore", "check": "doctor", "users": "user", "tokens": "token", "webhooks": "webhook", "modules": "module", "pipelines": "pipeline", "score": "predict", "webservices": "endpoints", "webservice": "endpoints", "services": "endpoints", "endpoint": "endpoints", "environment": "env", "environments": "env", "conda": "env",
}  # fmt: skip


class Verbs(TyperGroup):
    """Typer's group, which also knows what other tools call our verbs."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            meant = SYNONYMS.get(args[0]) if args else None
            if meant and hasattr(error, "message") and "Did you mean" not in error.message:
                error.message = f"{error.message.rstrip('.')}. Did you mean '{meant}'?"
            raise


app = typer.Typer(
    cls=Verbs,
    name="rookery",
    help="Trains PyTorch models at scale on machines you own.",
    epilog="RUN is a run's id, the beginning of one, its display name, or @last.",
    no_args_is_help=True,
    rich_markup_mode=None,  # Rich would cost more than everything else in `rookery --help`
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        version.version()
        raise typer.Exit


@app.callback()
def rookery(
    json: AsJson = False,
    workspace: InWorkspace = None,
    is_version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_print_version)
    ] = False,
) -> None:
    """Trains PyTorch models at scale on machines you own."""


app.command("init")(init.init)
app.command("run", context_settings=run.CONTEXT)(run.run)
app.command("tune", context_settings=tune.CONTEXT)(tune.tune)
app.command("ps")(ps.ps)
app.command("top")(top.top)
app.command("show")(show.show)
app.command("logs")(logs.logs)
app.command("stop")(stop.stop)
app.command("download")(download.download)
app.command("export")(export.export)
app.add_typer(compute.app, name="compute")
app.add_typer(env.app, name="env")
app.add_typer(models.app, name="models")
app.command("deploy")(deploy.deploy)
app.command("predict")(predict.predict)
app.add_typer(endpoints.app, name="endpoints")
app.add_typer(data.app, name="data")
app.add_typer(datastore.app, name="datastore")
app.add_typer(module.app, name="module")
app.add_typer(pipeline.app, name="pipeline")
app.add_typer(experiments.app, name="experiments")
app.add_typer(import_.app, name="import")
app.add_typer(token.app, name="token")
app.add_typer(user.app, name="user")
app.command("login")(login.login)
app.command("logout")(login.logout)
app.command("audit")(audit.audit)
app.add_typer(webhook.app, name="webhook")
app.command("doctor")(doctor.doctor)
app.add_typer(faults.app, name="faults")
app.add_typer(keeper.app, name="keeper")
app.add_typer(db.app, name="db")
app.command("gc")(gc.gc)
app.command("studio")(studio.studio)
app.command("server")(server.server)
app.command("version")(version.version)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command line (by default this process' own) and returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    session.start()
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding does not have is shown as an escape, not as an exception.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = typer.main.get_command(app).main(args=given, prog_name="rookery", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.Abort:
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # Typer's; it carries the help text
            print(error, file=sys.stderr)
            return 2
        return report(error, given)


def _reader_left() -> int:
    """Whoever read our output has gone (`rookery ps | head`): no fuss, and nothing to flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


if __name__ == "__main__":
    sys.exit(main())
