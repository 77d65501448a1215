"""Protobuf text to descriptors by protoc, in this process; descriptors in base64 are taken, too."""

import base64
import binascii
import tempfile
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError
from grpc_tools import _protoc_compiler  # the structured errors have no public door

from orion.registry.errors import InvalidSchemaError
from orion.registry.protobuf.known import KNOWN_FILES
from orion.registry.protobuf.render import render_file

# protoc wants the file it compiles to have a name; no import can have this one.
MAIN = "__schema__.proto"
# The compiler keeps state of its own while it runs.
_lock = threading.Lock()


@dataclass(frozen=True)
class ProtobufSchema:
    """A compiled file and the files it imports, by their names."""

    text: str
    file: FileDescriptorProto
    imports: Mapping[str, FileDescriptorProto]

    @property
    def identity(self) -> str:
        """What two texts of the same schema share, whatever their blanks and comments."""
        return bytes(self.file.SerializeToString(deterministic=True)).hex()


def parse_protobuf(text: str, references: Mapping[str, str] | None = None) -> ProtobufSchema:
    """Compile a schema.

    Args:
        text: A .proto file, or a FileDescriptorProto in base64, as some clients send it.
        references: The files it imports by the names of its import statements.
    """
    source = _to_source(text)
    given = {name: _to_source(body) for name, body in (references or {}).items()}
    compiled = _compile(source, {**KNOWN_FILES, **given})
    found = {file.name: file for file in compiled.file}
    main = found.pop(MAIN)
    _tidy(main)
    return ProtobufSchema(source, main, found)


def _to_source(text: str) -> str:
    """Return the text, or what a descriptor in base64 says as text."""
    try:
        raw = base64.b64decode(text.strip(), validate=True)
        file = FileDescriptorProto.FromString(raw)
    except (binascii.Error, ValueError, DecodeError):
        return text
    return render_file(file) if raw else text


def _compile(source: str, imports: Mapping[str, str]) -> FileDescriptorSet:
    with tempfile.TemporaryDirectory(prefix="orion-proto-") as name:
        folder = Path(name)
        for path, body in {**imports, MAIN: source}.items():
            _write(folder, path, body)
        roots = [str(folder), str(files("grpc_tools") / "_proto")]
        output = folder / "compiled.bin"
        words = ["protoc", *(f"-I{root}" for root in roots)]
        words += ["--include_imports", f"-o{output}", MAIN]
        with _lock:
            _check(roots)
            code = _protoc_compiler.run_main([word.encode() for word in words])
        if code:
            raise InvalidSchemaError("PROTOBUF", "protoc refused it")
        return FileDescriptorSet.FromString(output.read_bytes())


def _write(folder: Path, path: str, body: str) -> None:
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise InvalidSchemaError("PROTOBUF", f"'{path}' cannot be the name of an import")
    target = folder / pure
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body, encoding="utf-8")
    except (OSError, UnicodeEncodeError) as error:
        reason = f"the import '{path}' cannot be used ({error})"
        raise InvalidSchemaError("PROTOBUF", reason) from error


def _check(roots: list[str]) -> None:
    """Raise what protoc has against the file, with line and column."""
    try:
        with warnings.catch_warnings():
            # An import that is not used is no fault.
            warnings.simplefilter("ignore")
            _protoc_compiler.get_protos(MAIN.encode(), [root.encode() for root in roots])
    except _protoc_compiler.ProtocErrors as error:
        raise InvalidSchemaError("PROTOBUF", "; ".join(map(_words, error.errors()))) from error


def _words(fault: "_protoc_compiler.ProtocError") -> str:
    name = fault.filename.decode(errors="replace")
    where = "" if name == MAIN else f" of import '{name}'"
    text = fault.message.decode(errors="replace").rstrip(".")
    if fault.line < 0:
        return f"{text}{where}"
    return f"{text} (line {fault.line + 1}, column {fault.column + 1}{where})"


def _tidy(file: FileDescriptorProto) -> None:
    """Remove what says nothing of the schema: its file name, and JSON names that follow a rule."""
    file.ClearField("name")
    file.ClearField("source_code_info")
    messages = list(file.message_type)
    while messages:
        message = messages.pop()
        messages += message.nested_type
        for field in message.field:
            if field.json_name == _json_name(field.name):
                field.ClearField("json_name")


def _json_name(name: str) -> str:
    """Return the JSON name that protoc gives a field: letters after a `_` become capitals."""
    parts = name.split("_")
    return parts[0] + "".join(part[:1].upper() + part[1:] for part in parts[1:])
