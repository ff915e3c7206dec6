"""Recognising pictures by their first bytes, and saving plots. (The standard library's imghdr is gone since
Python 3.13.)"""

import io

from rookery.errors import UserError

__all__ = ["check_picture", "picture_kind", "plot_to_png"]


def picture_kind(head):
    """png, jpeg, gif, bmp, webp or tiff, from the first 16 bytes; None for anything else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return "gif"
    if head.startswith(b"BM"):
        return "bmp"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[:4] in (b"II*\x00", b"MM\x00*"):
        return "tiff"
    return None


def check_picture(path):
    """The kind of the picture at `path`, or UserError."""
    try:
        with open(path, "rb") as f:
            head = f.read(16)
    except OSError as error:
        text = "The picture {!r} cannot be read: {}.".format(path, error.strerror or error)
        raise UserError(text) from error
    kind = picture_kind(head)
    if kind is None:
        raise UserError(
            "{!r} is not a picture that is recognised. Known: png, jpeg, gif, bmp, webp, tiff.".format(path)
        )
    return kind


def plot_to_png(plot):
    """The PNG of anything with `savefig`, as a stream."""
    if not hasattr(plot, "savefig"):
        raise UserError(
            "plot={!r} has no savefig. Give matplotlib.pyplot or a figure, or use path=.".format(type(plot).__name__)
        )
    stream = io.BytesIO()
    plot.savefig(stream, format="png")
    stream.seek(0)
    return stream
