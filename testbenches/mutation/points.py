"""The places of a C++ source that can be changed, found in clang's syntax tree.

A `Point` is a piece of text and what may stand there instead. Nothing is changed inside a macro's
use, a static_assert, a constexpr variable, a case label or an enumerator: there the choice would
have to be made by the compiler."""

import hashlib
import re
from dataclasses import asdict, dataclass

from clang import cindex
from clang.cindex import CursorKind as Kind

RELATIONAL = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGICAL = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
EXTREMES = {"min": "max", "max": "min"}
# Operators in the text of generated code, which stands in string literals.
EMITTED = [
    (re.compile(r" (<|<=|>|>=) (?!>)"), RELATIONAL),
    (re.compile(r" (==|!=) "), RELATIONAL),
    (re.compile(r" (&&|\|\|) "), LOGICAL),
    (re.compile(r" (\+|-|\+=|-=) "), ARITHMETIC),
]
ARITHMETIC_TYPES = {
    getattr(cindex.TypeKind, name)
    for name in "BOOL CHAR_U UCHAR USHORT UINT ULONG ULONGLONG CHAR_S SCHAR SHORT INT LONG LONGLONG"
    " INT128 UINT128 FLOAT DOUBLE LONGDOUBLE".split()
}
# Statements are looked for directly below these.
BODIES = {Kind.COMPOUND_STMT, Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT}
UNTOUCHED = {
    Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.TEMPLATE_NON_TYPE_PARAMETER, Kind.CONCEPT_DECL
    if hasattr(Kind, "CONCEPT_DECL") else Kind.STATIC_ASSERT,
}  # fmt: skip


@dataclass
class Point:
    """Text `original` at `start` (bytes) of `file`, which a mutant replaces by `mutated`."""

    file: str
    start: int
    end: int
    line: int
    kind: str  # relational, logical, arithmetic, literal, condition, dropped, extreme, emitted
    original: str
    mutated: str
    statement: bool  # both are whole statements, without the semicolon
    id: str = ""
    again: bool = False  # not of the sample: one that survived before

    def row(self):
        return asdict(self)


class _Finder:
    def __init__(self, file, unit, text):
        self.file, self.text, self.points = file, text, []
        self.macros = [
            (c.extent.start.offset, c.extent.end.offset)
            for c in unit.cursor.get_children()
            if c.kind == Kind.MACRO_INSTANTIATION and self.here(c)
        ]
        for cursor in unit.cursor.get_children():
            if self.here(cursor):
                self.visit(cursor, None)

    def here(self, cursor):
        place = cursor.location.file
        return place is not None and place.name == self.file

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def of(self, start, end):
        return self.text[start:end].decode()

    def add(self, kind, cursor, mutated, statement=False, span=None):
        if "//" not in mutated:
            mutated = re.sub(r"\s*\n\s*", " ", mutated)  # lines of errors stay those of the source
        start, end = span or self.span(cursor)
        original = self.of(start, end)
        if not original or mutated == original:
            return
        if any(start < last and first < end for first, last in self.macros):
            return
        line = self.text.count(b"\n", 0, start) + 1
        self.points.append(Point(self.file, start, end, line, kind, original, mutated, statement))

    def visit(self, cursor, parent):
        kind = cursor.kind
        if kind in UNTOUCHED or kind == Kind.MACRO_DEFINITION:
            return
        if kind == Kind.VAR_DECL and re.match(
            r"(\w+\s+)*constexpr\b", self.of(*self.span(cursor)).lstrip()
        ):
            return
        children = list(cursor.get_children())
        if kind == Kind.CASE_STMT or (kind == Kind.IF_STMT and self.constant(cursor, children)):
            children = children[1:]
        found = {
            Kind.BINARY_OPERATOR: self.binary,
            Kind.COMPOUND_ASSIGNMENT_OPERATOR: self.binary,
            Kind.INTEGER_LITERAL: self.literal,
            Kind.CXX_BOOL_LITERAL_EXPR: self.literal,
            Kind.IF_STMT: self.condition,
            Kind.CONDITIONAL_OPERATOR: self.condition,
            Kind.CALL_EXPR: self.extreme,
        }.get(kind)
        if found:
            found(cursor, children, parent)
        if parent is not None and parent.kind in BODIES:
            self.statement(cursor, parent)
        for child in children:
            self.visit(child, cursor)

    def constant(self, cursor, children):
        """if constexpr: decided by the compiler."""
        return children and "constexpr" in self.of(
            cursor.extent.start.offset, children[0].extent.start.offset
        )

    def binary(self, cursor, children, _):
        if len(children) != 2:
            return
        (start, left), (right, end) = self.span(children[0]), self.span(children[1])
        operator = self.of(left, right).strip()
        x, y = self.of(start, left), self.of(right, end)
        for kind, table in (
            ("relational", RELATIONAL),
            ("logical", LOGICAL),
            ("arithmetic", ARITHMETIC),
        ):
            if operator not in table:
                continue
            if kind == "arithmetic":
                types = [c.type.get_canonical().kind for c in children]
                if not all(t in ARITHMETIC_TYPES for t in types):
                    return
            # Parentheses: `a - b` inside `c + (a - b)` keeps its own, `x || y` within && gets some.
            self.add(kind, cursor, f"{x} {table[operator]} {y}", span=(start, end))

    def literal(self, cursor, _, parent):
        start, end = self.span(cursor)
        before = self.of(0, start).rstrip()[-1:]
        if parent is None or before in ("<", "[", ":"):  # a template's argument, an array's size
            if before != "<" or parent is None or parent.kind != Kind.BINARY_OPERATOR:
                return
        text = self.of(start, end)
        if cursor.kind == Kind.CXX_BOOL_LITERAL_EXPR:
            self.add("literal", cursor, "false" if text == "true" else "true")
        elif re.fullmatch(r"[0-9']+[uUlL]*", text):
            self.add("literal", cursor, f"{text} + 1")

    def condition(self, cursor, children, _):
        test = children[0] if children else None
        if test is None or not test.kind.is_expression():
            return
        # In front of `if (auto x = ...; c)` stands a declaration, and no expression.
        head = self.of(cursor.extent.start.offset, test.extent.start.offset)
        if ";" in head or "constexpr" in head:
            return
        text = self.of(*self.span(test))
        self.add("condition", test, f"!({text})")
        if cursor.kind == Kind.IF_STMT:
            self.add("dropped", test, "false")  # the case is never taken

    def extreme(self, cursor, children, _):
        if cursor.spelling in EXTREMES and children:
            start, end = self.span(children[0])
            name = self.of(start, end)
            if re.fullmatch(r"(std::|::\w+::)?(min|max)", name):
                swapped = name[:-3] + EXTREMES[name[-3:]]
                self.add("extreme", cursor, swapped + self.of(end, self.span(cursor)[1]))

    def statement(self, cursor, parent):
        """A statement that can be left out, or that writes out an operator."""
        start, end = self.span(cursor)
        if self.of(end, end + 1) != ";":
            return
        if parent.kind == Kind.FOR_STMT and self.of(0, start).rstrip()[-1:] in (";", "("):
            return  # of the head
        kind, text = cursor.kind, self.of(start, end)
        leaves = kind in (Kind.BREAK_STMT, Kind.CONTINUE_STMT)
        assigns = kind == Kind.BINARY_OPERATOR or kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR
        calls = kind in (Kind.CALL_EXPR, Kind.UNARY_OPERATOR, Kind.UNEXPOSED_EXPR)
        if leaves or assigns or calls:
            self.add("dropped", cursor, "", statement=True, span=(start, end))
        if leaves or kind == Kind.DECL_STMT:
            return
        for first, last in self.strings(text):
            self.emitted(start, end, text, first, last)

    @staticmethod
    def strings(text):
        return [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"', text)]

    def emitted(self, start, end, text, first, last):
        for pattern, table in EMITTED:
            for m in pattern.finditer(text, first, last):
                mutated = text[: m.start(1)] + table[m.group(1)] + text[m.end(1) :]
                self.add("emitted", None, mutated, statement=True, span=(start, end))


def find(file, arguments):
    """All points of a source file. Raises ValueError where clang cannot read it."""
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    unit = cindex.Index.create().parse(file, args=arguments, options=options)
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{file}: clang cannot read it: {errors[0]}")
    with open(file, "rb") as opened:
        return _Finder(file, unit, opened.read()).points


def name_points(points, root):
    """Paths become relative; names depend on the text alone, so that they outlive other changes."""
    seen = {}
    for point in points:
        point.file = point.file.removeprefix(str(root) + "/")
        text = "|".join((point.file, point.kind, point.original, point.mutated))
        seen[text] = seen.get(text, 0) + 1
        point.id = hashlib.sha1(f"{text}|{seen[text]}".encode()).hexdigest()[:8]
    return points
