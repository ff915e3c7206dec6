"""Gradients made smaller for the way."""

import torch

__all__ = ["Compression", "Compressor", "FP16Compressor", "NoneCompressor"]


class Compressor(object):
    """Subclass it for a compression of your own: two static methods."""

    @staticmethod
    def compress(tensor):
        """(what is sent, what decompress needs to know)."""
        raise NotImplementedError("A Compressor needs compress(tensor).")

    @staticmethod
    def decompress(tensor, ctx):
        raise NotImplementedError("A Compressor needs decompress(tensor, ctx).")


class NoneCompressor(Compressor):
    @staticmethod
    def compress(tensor):
        return tensor, None

    @staticmethod
    def decompress(tensor, ctx):
        return tensor


class FP16Compressor(Compressor):
    """Floats travel with 16 bits."""

    @staticmethod
    def compress(tensor):
        if not tensor.dtype.is_floating_point:
            return tensor, None
        return tensor.to(torch.float16), tensor.dtype

    @staticmethod
    def decompress(tensor, ctx):
        return tensor if ctx is None else tensor.to(ctx)


class Compression(object):
    none = NoneCompressor
    fp16 = FP16Compressor
