"""What Python does with a formula's symbols without asking them: `is`, isinstance, type(), and a
text of them (str(), an f-string) compared, measured or looked up. The answers would be those for
symbols, not for values; the bytecode shows them.
"""

import dis

from ..errors import mistake

__all__ = ["check_seen"]

_CALLS = ("CALL", "CALL_FUNCTION")
_ASKS = {
    "isinstance": "isinstance() asks for the type of a symbol, not of a value: compare the value",
    "type": "type() is that of a symbol, not of a value: compare the value",
}
_TEXTS = ("str", "repr", "format")
_MEASURES = ("len", "int", "float", "hash", "ord")
_LOOKS = ("COMPARE_OP", "CONTAINS_OP", "BINARY_SUBSCR")

_seen = set()  # code objects without such a thing


def check_seen(function, names):
    """Raises Error "E-identity" for `is` and the like on what comes from the parameters `names`.

    Looks at the function itself and those inside of it, not at others that it calls. Tests for None
    are right as they are: a property is never None.
    """
    code = getattr(function, "__code__", None)
    if code is None or (code, tuple(names)) in _seen:
        return
    _check(code, set(names))
    _seen.add((code, tuple(names)))


def _check(code, symbols):
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    symbols = set(symbols)
    for at, instruction in enumerate(instructions):
        name = instruction.opname
        if name in ("STORE_FAST", "STORE_DEREF"):
            if _reads(_operands(instructions, at, 1), symbols):
                symbols.add(instruction.argval)
        elif name == "IS_OP":
            operands = _operands(instructions, at, 2)
            if _reads(operands, symbols) and not _is_none(operands):
                sign, other = ("is not", "!=") if instruction.arg else ("is", "==")
                _refuse(
                    code,
                    instruction,
                    f"'{sign}' asks whether two are one object, which a symbol never is; "
                    f"write {other}",
                )
        elif name in _CALLS:
            called, call = _call(instructions, at)
            one = called != "type" or instruction.arg == 1
            if called in _ASKS and one and _reads(call, symbols):
                _refuse(code, instruction, _ASKS[called])
            if called in _MEASURES:
                _check_text(code, instruction, call, symbols)
        elif name in _LOOKS:
            _check_text(code, instruction, _operands(instructions, at, 2), symbols)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            own = constant.co_varnames[: constant.co_argcount]
            _check(constant, (symbols & set(constant.co_freevars)) | set(own))


def _check_text(code, instruction, operands, symbols):
    """Refuses what looks into a text that is made of symbols among its operands."""
    for at, made in enumerate(operands):
        if made.opname == "FORMAT_VALUE":
            maker, of = "an f-string", _operands(operands, at, 2 if made.arg & 4 else 1)
        elif made.opname in _CALLS:
            called, of = _call(operands, at)
            maker = f"{called}()" if called in _TEXTS else None
        else:
            continue
        if maker and _reads(of, symbols):
            text = f"{maker} is the text of a symbol, not of a value: compare the value"
            _refuse(code, instruction, text)


def _call(instructions, at):
    """(the global function that is called, or None; what puts it and its arguments there)."""
    begin = at - (instructions[at - 1].opname == "PRECALL")
    operands = _operands(instructions, begin, instructions[at].arg + 2)
    named = bool(operands) and operands[0].opname == "LOAD_GLOBAL"
    return operands[0].argval if named else None, operands


def _operands(instructions, at, items):
    """The instructions just before one that put its `items` operands on the stack."""
    depth = 0
    for k in range(at - 1, -1, -1):
        i = instructions[k]
        depth -= dis.stack_effect(i.opcode, i.arg, jump=False)
        if depth <= -items:
            return instructions[k:at]
    return instructions[:at]


def _reads(instructions, symbols):
    return any(
        i.opname in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE") and i.argval in symbols
        for i in instructions
    )


def _is_none(operands):
    return any(i.opname == "LOAD_CONST" and i.argval is None for i in operands)


def _refuse(code, instruction, text):
    where = instruction.positions
    at = (code.co_filename, where.lineno or code.co_firstlineno)
    if None not in (where.col_offset, where.end_col_offset) and where.lineno == where.end_lineno:
        at += (where.col_offset, where.end_col_offset)
    raise mistake("E-identity", text, at)
