"""Many mutants in one source: each point becomes a choice at run time."""


def _choice(point, number, inner):
    if point.statement:
        mutated = f"{point.mutated};" if point.mutated else ""
        # No `if` without `else`, for an `else` that may follow.
        return f"if (::lpn_mutant::on({number})) {{ {mutated} }} else {inner}"
    if point.kind in ("condition", "logical") or point.mutated in ("false", "true"):
        inner = f"static_cast<bool>({inner})"
    return f"(::lpn_mutant::on({number}) ? ({point.mutated}) : ({inner}))"


def render(text, points, header):
    """`text` (bytes) with all `points` [(number, Point)] in it, behind `#include "header"`.

    Points may lie in one another: a mutated text is the original with one change, and the points
    inside of it stand in the other branch. Points that overlap otherwise are not allowed."""

    def between(start, end, inside):
        pieces, at = [], start
        while inside:
            number, point = inside[0]
            nested = [(n, p) for n, p in inside[1:] if p.start < point.end]
            if any(p.end > point.end for _, p in nested):
                raise ValueError(f"points overlap at {point.file}:{point.line}")
            inside = inside[1 + len(nested) :]
            pieces.append(text[at : point.start])
            inner = between(point.start, point.end, nested).decode()
            pieces.append(_choice(point, number, inner).encode())
            at = point.end
        pieces.append(text[at:end])
        return b"".join(pieces)

    # The outer first; a statement around an expression of the same extent.
    ordered = sorted(points, key=lambda p: (p[1].start, -p[1].end, not p[1].statement))
    body = between(0, len(text), ordered)
    include = f'#include "{header}"\n'.encode()
    return include + b"#line 1\n" + body
