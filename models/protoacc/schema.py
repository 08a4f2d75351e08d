"""Messages from a .proto file: protoc and Debian's python3-protobuf read both, this says which has
bits are set and how many bytes the hardware makes of each value.
"""

import os
import re
import subprocess
import tempfile
import warnings

from .messages import Field, Message, string_field, varint_bytes
from .tokens import Kind

TEXT_SUFFIXES = (".txtpb", ".textproto", ".textpb", ".pbtxt", ".prototxt")
_SECONDS = 60  # for protoc


def type_of(path, name):
    """The message class `name` of a .proto file, with or without its package.

    Raises ValueError: where protoc or its Python package are missing, for what protoc refuses, and
    for a type that the file does not have.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise ValueError("a .proto file needs Debian's package python3-protobuf") from None
    if not os.path.isfile(path):
        raise ValueError(f"there is no file {path}")
    files = descriptor_pb2.FileDescriptorSet.FromString(_compiled(path))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    main = files.file[-1]
    known = [f"{main.package}.{m.name}".lstrip(".") for m in main.message_type]
    for candidate in (name, f"{main.package}.{name}"):
        try:
            descriptor = pool.FindMessageTypeByName(candidate)
        except KeyError:
            continue
        factory = message_factory.MessageFactory(pool)
        return factory.GetPrototype(descriptor)
    raise ValueError(f"{path} has no message type {name}; it has: {', '.join(known) or 'none'}")


def _compiled(path):
    """protoc's descriptor set of a file and what it imports."""
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix="lpn-protoacc-") as made:
        out = os.path.join(made, "set")
        command = [
            "protoc",
            f"-I{folder}",
            "--include_imports",
            f"--descriptor_set_out={out}",
            os.path.join(folder, name),  # one that begins with - is no option
        ]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS
            )
        except FileNotFoundError:
            raise ValueError("a .proto file needs protoc: Debian's protobuf-compiler") from None
        except subprocess.TimeoutExpired:
            raise ValueError(f"protoc did not answer within {_SECONDS} s") from None
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "WARNING" not in line]
            raise ValueError(f"protoc refuses {path}: {(lines or ['it says nothing'])[0]}")
        with open(out, "rb") as file:
            return file.read()


def read_message(path, message_class, name):
    """The Message in a file of a type: text format by its suffix, else binary.

    `name` stands for the file in errors.

    Raises OSError, and ValueError for what is no such message.
    """
    from google.protobuf import message as errors, text_format

    with open(path, "rb") as file:
        data = file.read()
    message = message_class()
    if os.path.splitext(path)[1] in TEXT_SUFFIXES:
        try:
            text_format.Parse(data.decode(), message)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{name} is no {message_class.DESCRIPTOR.full_name}: {error}"
            ) from None
    else:
        try:
            # Of data behind the end of a group that never began, protobuf only warns.
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                message.ParseFromString(data)
            if warned:
                raise errors.DecodeError(str(warned[0].message))
        except errors.DecodeError as error:
            raise ValueError(
                f"{name} is no {message_class.DESCRIPTOR.full_name}: {error}"
            ) from None
    missing = message.FindInitializationErrors()
    if missing:
        raise ValueError(f"{name}: the required field {missing[0]} is missing")
    return lowered(message, name)


def header_of(path):
    """(file of the schema, message type) that a text file names in comments at its top, as
    `# proto-file: a.proto` and `# proto-message: Type`."""
    with open(path, encoding="utf-8", errors="replace") as file:
        head = file.read(65536)
    found = dict(re.findall(r"^#\s*proto-(file|message):\s*(\S+)\s*$", head, re.MULTILINE))
    if found.keys() != {"file", "message"}:
        raise ValueError(
            "a message in text format needs the comments '# proto-file: NAME.proto' and "
            "'# proto-message: TYPE', or a JSON file that names it"
        )
    return os.path.join(os.path.dirname(path), found["file"]), found["message"]


def lowered(message, where):
    """The Message of a parsed protobuf message; `where` names it.

    Raises ValueError for what the hardware does not serialise, or not rightly.
    """
    descriptor = message.DESCRIPTOR
    for unknown in message.UnknownFields():
        _refuse_unknown(descriptor, unknown, where)
    fields = []
    for field, value in message.ListFields():
        here = f"{where}: {field.name}" if where.count(":") == 0 else f"{where}.{field.name}"
        fields.append(_field(field, value, here))
    numbers = [field.number for field in descriptor.fields] or [1]
    children = frozenset(
        field.number for field in descriptor.fields if field.type == field.TYPE_MESSAGE
    )
    return Message(fields, min(numbers), max(numbers), children)


def _refuse_unknown(descriptor, unknown, where):
    number, wire = unknown.field_number, unknown.wire_type
    field = descriptor.fields_by_number.get(number)
    if field is None:
        raise ValueError(f"{where}: {descriptor.full_name} has no field {number}")
    here = f"{where}: field {number} ({field.name})"
    if field.type == field.TYPE_ENUM and wire == 0:  # of proto2, whose enums are closed
        raise ValueError(f"{here} has a value that {field.enum_type.full_name} does not have")
    raise ValueError(f"{here} has the wrong wire type {wire}")


def _field(field, value, where):
    repeated = field.label == field.LABEL_REPEATED
    if field.is_extension:
        raise ValueError(f"{where}: extensions are not in a descriptor table of the hardware")
    if field.type == field.TYPE_GROUP:
        raise ValueError(f"{where}: groups are not implemented in the hardware")
    if field.type == field.TYPE_MESSAGE:
        if repeated:
            raise ValueError(
                f"{where}: repeated submessages (maps too) are not implemented in the hardware"
            )
        return Field(field.number, Kind.CLOSE, child=lowered(value, where))
    values = list(value) if repeated else [value]
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        sizes = [len(v.encode() if isinstance(v, str) else v) for v in values]
        return string_field(field.number, sizes, repeated, 0, where)
    if repeated and _is_packed(field):
        raise ValueError(
            f"{where}: packed repeated fields are not implemented in the hardware; write "
            "[packed = false]"
        )
    return Field(field.number, Kind.SCALAR, [_bytes(field, v, where) for v in values], repeated)


def _is_packed(field):
    options = field.GetOptions()
    if options.HasField("packed"):
        return options.packed
    return field.file.syntax == "proto3"


def _bytes(field, value, where):
    """Bytes of a scalar as the hardware encodes it: fieldhandler_serializer.scala, mem_resp_raw."""
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FIXED64, field.TYPE_SFIXED64):
        return 8
    if field.type in (field.TYPE_FLOAT, field.TYPE_FIXED32, field.TYPE_SFIXED32):
        return 4
    if field.type == field.TYPE_ENUM and value < 0:
        raise ValueError(
            f"{where}: a negative enum value; the hardware extends only int32 and writes a "
            "different number"
        )
    if field.type == field.TYPE_SINT64:
        value = value << 1 ^ value >> 63
    elif field.type == field.TYPE_SINT32:
        # mem_resp_zigzag32 keeps the sign bit as bit 32: five bytes, which decode to the value.
        value = (value << 1 ^ value >> 31) | (2**32 if value < 0 else 0)
    return varint_bytes(value & (2**64 - 1))
