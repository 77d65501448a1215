"""Protobuf text to descriptors, by protoc inside this process: the one place that calls it."""

import tempfile
import threading
import warnings
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import _protoc_compiler  # the structured errors have no public door

from orion.formats.protobuf.known import KNOWN_FILES
from orion.formats.schema_error import UnreadableSchemaError

# protoc wants the file it compiles to have a name; no import can have this one.
MAIN_FILE = "__schema__.proto"
# The compiler keeps state of its own while it runs.
_lock = threading.Lock()


def run_protoc(text: str, imports: Mapping[str, str]) -> FileDescriptorSet:
    """Compile a .proto file with all it imports; its own name in the set is `MAIN_FILE`.

    Args:
        imports: Files by the names of import statements, besides those that everybody knows.
    """
    with tempfile.TemporaryDirectory(prefix="orion-proto-") as name:
        folder = Path(name)
        for path, body in {**KNOWN_FILES, **imports, MAIN_FILE: text}.items():
            _write(folder, path, body)
        roots = [str(folder), str(files("grpc_tools") / "_proto")]
        output = folder / "compiled.bin"
        words = ["protoc", *(f"-I{root}" for root in roots)]
        words += ["--include_imports", f"-o{output}", MAIN_FILE]
        with _lock:
            _check(roots)
            code = _protoc_compiler.run_main([word.encode() for word in words])
        if code:
            raise UnreadableSchemaError("Protobuf", "protoc refused it")
        return FileDescriptorSet.FromString(output.read_bytes())


def _write(folder: Path, path: str, body: str) -> None:
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise UnreadableSchemaError("Protobuf", f"'{path}' cannot be the name of an import")
    target = folder / pure
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body, encoding="utf-8")
    except (OSError, UnicodeEncodeError) as error:
        reason = f"the import '{path}' cannot be used ({error})"
        raise UnreadableSchemaError("Protobuf", reason) from error


def _check(roots: list[str]) -> None:
    """Raise what protoc has against the file, with line and column."""
    try:
        with warnings.catch_warnings():
            # An import that is not used is no fault.
            warnings.simplefilter("ignore")
            _protoc_compiler.get_protos(MAIN_FILE.encode(), [root.encode() for root in roots])
    except _protoc_compiler.ProtocErrors as error:
        raise UnreadableSchemaError("Protobuf", "; ".join(map(_words, error.errors()))) from error


def _words(fault: "_protoc_compiler.ProtocError") -> str:
    name = fault.filename.decode(errors="replace")
    where = "" if name == MAIN_FILE else f" of import '{name}'"
    text = fault.message.decode(errors="replace").rstrip(".")
    if fault.line < 0:
        return f"{text}{where}"
    return f"{text} (line {fault.line + 1}, column {fault.column + 1}{where})"
