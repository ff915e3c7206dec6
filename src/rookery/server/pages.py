"""Pages that the server makes itself: the login, and one for where the studio is not built. No script, nothing from elsewhere."""

from __future__ import annotations

import html

from starlette.responses import HTMLResponse

__all__ = ["login_page", "unbuilt_page"]

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
_STYLE = """
:root { color-scheme: light dark; --ground: #f6f4ef; --card: #ffffff; --ink: #22262b; --soft: #5d656e; --line: #d9d5cb; --field: #868b91;
  --accent: #0f6b5c; --on-accent: #ffffff; --bad: #a4262c; --bad-ground: #fdf0ef; }
@media (prefers-color-scheme: dark) { :root { --ground: #15181b; --card: #1e2226; --ink: #e8eaec; --soft: #9aa3ac; --line: #363c42; --field: #757e87;
  --accent: #4fc3ac; --on-accent: #0c1a17; --bad: #ff9c94; --bad-ground: #3a2122; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: 100%; max-width: 23rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 2rem;
  box-shadow: 0 1px 2px rgb(0 0 0 / 6%), 0 12px 32px rgb(0 0 0 / 8%); }
svg { display: block; width: 44px; height: 44px; color: var(--accent); }
h1 { font-size: 1.35rem; line-height: 1.25; margin: .9rem 0 .15rem; letter-spacing: -.01em; }
p { margin: 0 0 1.25rem; color: var(--soft); overflow-wrap: anywhere; }
label { display: block; font-size: .875rem; font-weight: 600; margin: 0 0 .3rem; }
input { width: 100%; font: inherit; color: inherit; background: transparent; border: 1px solid var(--field); border-radius: 8px;
  padding: .55rem .7rem; margin: 0 0 1rem; }
button { width: 100%; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 8px;
  padding: .65rem; cursor: pointer; }
button:hover { filter: brightness(1.07); }
input:focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; border-color: var(--accent); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.bad { color: var(--bad); background: var(--bad-ground); border-radius: 8px; padding: .6rem .75rem; margin: 0 0 1rem; }
code { font: .875em ui-monospace, SFMono-Regular, Menlo, monospace; }
"""
# A nest with an egg: a rookery is where young birds are raised.
_MARK = (
    '<svg viewBox="0 0 44 44" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" aria-hidden="true">'
    '<path d="M22 8c5 0 8.5 6 8.5 11.5 0 2-.4 3.6-1.2 5"/><path d="M14.7 24.5c-.8-1.4-1.2-3-1.2-5C13.5 14 17 8 22 8"/>'
    '<path d="M5 25c2 8 8.500 12 17 12s15-4 17-12"/><path d="M8 26.500c8 3 20 3 28 0"/><path d="M12 31.500c6 2 14 2 20 0"/></svg>'
)


def login_page(
    workspace: str, has_users: bool, problem: str = "", name: str = "", status: int = 200, to: str = "/"
) -> HTMLResponse:
    """The form; `problem` is said above it, and read out by screen readers at once."""
    said = f'<p class="bad" role="alert">{html.escape(problem)}</p>' if problem else ""
    hint = (
        ""
        if has_users
        else "<p>On the machine of this workspace <code>rookery studio</code> opens it, logged in. "
        "There are no users yet: <code>rookery user add NAME --role owner</code></p>"
    )
    # Without an action the form goes to this very address: what stands after its '#' (a run's address as MLflow prints it) comes along
    # through the login and the answer's redirect, though no server sees it.
    first, second = ("", " autofocus") if problem and name else (" autofocus", "")
    body = f"""{_MARK}<h1>Log in to Rookery</h1><p>{html.escape(workspace)}</p>{hint}{said}
<form method="post">
<input type="hidden" name="to" value="{html.escape(to)}">
<label for="name">Name</label>
<input id="name" name="name" value="{html.escape(name[:64])}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64" required{first}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required{second}>
<button type="submit">Log in</button>
</form>"""
    return _page("Log in", body, status)


def unbuilt_page(prefix: str, workspace: str) -> HTMLResponse:
    """Where the package was installed without the studio."""
    body = f"""{_MARK}<h1>{html.escape(workspace)}</h1>
<p>The keeper works, but this copy of Rookery came without the studio. In a checkout <code>make studio</code> builds it;
a wheel from <code>pip wheel .</code> without <code>SKIP_UI=1</code> has it. Then reload this page.</p>
<p>Meanwhile: <code>rookery ps</code>, <code>rookery logs</code>, <code>rookery show</code>.</p>
<form method="post" action="{html.escape(prefix)}/logout"><button type="submit">Log out</button></form>"""
    return _page(workspace, body, 200)


def _page(title: str, body: str, status: int) -> HTMLResponse:
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>{html.escape(title)} · Rookery</title><style>{_STYLE}</style></head>
<body><main>{body}</main></body></html>"""
    return HTMLResponse(text, status, headers=_HEADERS)
