"""conda packages that the Python index has too, so that no conda is needed to get them."""

from __future__ import annotations

from dataclasses import replace

from rookery.environments.specification.conda_spec import CondaDependency
from rookery.environments.specification.requirement import Requirement, normal_name
from rookery.environments.specification.wanted import Wanted

__all__ = ["without_conda"]

# conda's name → the index's.
DIFFERENT = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "opencv": "opencv-python-headless",
    "py-opencv": "opencv-python-headless",
    "libopencv": "opencv-python-headless",
    "pytables": "tables",
    "matplotlib-base": "matplotlib",
    "numpy-base": "numpy",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-base": "tensorflow",
    "py-xgboost": "xgboost",
    "python-graphviz": "graphviz",
    "msgpack-python": "msgpack",
    "pillow-simd": "pillow",
    "ruamel_yaml": "ruamel.yaml",
}
# The same project under the same name in both.
SAME = frozenset(
    [
        "absl-py",
        "accelerate",
        "albumentations",
        "boto3",
        "catboost",
        "certifi",
        "cffi",
        "click",
        "cloudpickle",
        "coverage",
        "cryptography",
        "cycler",
        "cython",
        "dask",
        "dataclasses",
        "datasets",
        "dill",
        "distributed",
        "einops",
        "fastapi",
        "filelock",
        "fire",
        "flask",
        "fsspec",
        "ftfy",
        "future",
        "gensim",
        "gunicorn",
        "h5py",
        "hydra-core",
        "imageio",
        "imgaug",
        "ipykernel",
        "ipython",
        "ipywidgets",
        "jinja2",
        "joblib",
        "jsonschema",
        "jupyter",
        "jupyterlab",
        "keras",
        "kornia",
        "lightgbm",
        "lightning",
        "llvmlite",
        "lxml",
        "matplotlib",
        "mlflow",
        "mypy",
        "networkx",
        "nltk",
        "notebook",
        "numba",
        "numpy",
        "onnx",
        "onnxruntime",
        "openpyxl",
        "optuna",
        "orjson",
        "packaging",
        "pandas",
        "pillow",
        "plotly",
        "polars",
        "protobuf",
        "psutil",
        "pyarrow",
        "pydantic",
        "pyodbc",
        "pytest",
        "python-dateutil",
        "pytorch-lightning",
        "pytz",
        "pyyaml",
        "pyzmq",
        "ray",
        "regex",
        "requests",
        "rich",
        "s3fs",
        "safetensors",
        "scikit-image",
        "scikit-learn",
        "scipy",
        "seaborn",
        "sentencepiece",
        "setuptools",
        "shap",
        "simplejson",
        "six",
        "spacy",
        "sqlalchemy",
        "statsmodels",
        "sympy",
        "tabulate",
        "tensorboard",
        "tensorboardx",
        "tensorflow",
        "termcolor",
        "tifffile",
        "timm",
        "tokenizers",
        "toml",
        "torchaudio",
        "torchmetrics",
        "torchvision",
        "tornado",
        "tqdm",
        "transformers",
        "typing-extensions",
        "typing_extensions",
        "umap-learn",
        "urllib3",
        "uvicorn",
        "virtualenv",
        "wandb",
        "webdataset",
        "werkzeug",
        "wheel",
        "xarray",
        "xgboost",
        "yacs",
        "zarr",
    ]
)
# Libraries that the index's wheels bring themselves: left out where one of those wheels is asked for.
CUDA = frozenset(
    ["cudatoolkit", "cudnn", "nccl", "cuda", "pytorch-cuda", "pytorch-mutex", "cpuonly", "cuda-toolkit", "cuda-runtime"]
)
CUDA_USERS = frozenset(["torch", "torchvision", "tensorflow", "lightning", "pytorch-lightning"])
MATHS = frozenset(
    [
        "mkl",
        "blas",
        "libblas",
        "liblapack",
        "libopenblas",
        "intel-openmp",
        "nomkl",
        "mkl-service",
        "mkl_fft",
        "mkl_random",
    ]
)
MATHS_USERS = CUDA_USERS | {"numpy", "scipy", "scikit-learn", "pandas"}
# What `conda env export` lists and an interpreter brings by itself.
OF_PYTHON = frozenset(
    [
        "_libgcc_mutex",
        "_openmp_mutex",
        "bzip2",
        "ca-certificates",
        "ld_impl_linux-64",
        "libffi",
        "libgcc-ng",
        "libgcc",
        "libgomp",
        "libnsl",
        "libsqlite",
        "libstdcxx-ng",
        "libuuid",
        "libxcrypt",
        "libzlib",
        "ncurses",
        "openssl",
        "python_abi",
        "readline",
        "sqlite",
        "tk",
        "tzdata",
        "xz",
        "zlib",
    ]
)


def without_conda(wanted: Wanted) -> Wanted:
    """The same wish with everything that the index has moved from conda to pip. `conda` keeps what only
    conda can give.

    A name that pip asks for as well stays as pip has it, as conda's own installation would end.
    """
    pip = {normal_name(r.name): r for r in wanted.pip}
    left: list[CondaDependency] = []
    moved: list[Requirement] = []
    deviations: list[str] = []
    notes: list[str] = []
    for one in wanted.conda:
        target = DIFFERENT.get(one.name) or (one.name if one.name in SAME else None)
        if target is None or "|" in one.condition:
            left.append(one)
            continue
        if normal_name(target) not in pip:
            moved.append(Requirement(target, condition=one.pip_condition))
        notes.append(f"conda's {one.text} is taken from the Python index as {target}{one.pip_condition}.")
        if one.build and one.build != "*":
            deviations.append(
                f"{one.text}: the build '{one.build}' of conda was not used; {target}{one.pip_condition} "
                "came from the Python index."
            )
    names = set(pip) | {normal_name(r.name) for r in moved}
    dropped = [d for d in left if _is_brought_along(d.name, names)]
    deviations += [
        f"{d.text} was left out: the interpreter and the packages of the Python index bring the libraries they need."
        for d in dropped
    ]
    left = [d for d in left if d not in dropped]
    return replace(
        wanted,
        conda=tuple(left),
        pip=tuple(moved) + wanted.pip,
        deviations=wanted.deviations + tuple(deviations),
        notes=wanted.notes + tuple(notes),
    )


def _is_brought_along(name: str, beside: set[str]) -> bool:
    if name in OF_PYTHON:
        return True
    is_cuda = name in CUDA or name.startswith("magma-cuda")
    return (is_cuda and bool(beside & CUDA_USERS)) or (name in MATHS and bool(beside & MATHS_USERS))
