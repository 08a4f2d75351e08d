"""Changes of certificates, as data and as text."""

import json
import marshal
import re

INTS = [0, 1, -1, 2, 3, 5, 100, 2**20, 2**31, 2**32 - 1, 2**43, 2**53, 2**61, 2**62]
INTS += [
    2**63 - 1,
    2**63,
    2**64,
    -(2**31),
    -(2**62),
    -(2**63),
    -(2**63) - 1,
    10**30,
    10**39,
]
OTHERS = [None, True, False, "", "x", "5", "5/1", "1e999999999", "v\0a", "v\0b", [], {}, [[]]]
OTHERS += [1.5, float("inf"), float("nan"), "9" * 5000, "a" * 100_000, [0] * 1000]


def get(data, path):
    for key in path:
        data = data[key]
    return data


def odd_value(r, data, places, old):
    kind = r.randrange(6)
    if kind == 0 or isinstance(old, int) and kind < 4:
        if isinstance(old, int) and r.random() < 0.6:
            return old + r.choice([-1, 1, -2, 2, -7, 10, 1 << 20])
        return r.choice(INTS)
    if kind == 1:
        return r.choice(OTHERS)
    if kind == 2:
        return get(data, r.choice(places))
    if kind == 3:
        deep = r.choice(INTS[:5])
        for _ in range(r.choice([3, 200, 900])):
            deep = [deep]
        return deep
    if isinstance(old, str) and old:
        return odd_text(r, old)
    return r.choice(INTS)


def odd_text(r, text):
    kind, k = r.randrange(5), r.randrange(len(text))
    if kind == 0:
        return text[:k] + text[k + r.randrange(1, 4) :]
    if kind == 1:
        return text[:k] + r.choice("0123456789 \0\n#(){}:.,-*/abcxyz'\"\u00e9") + text[k:]
    numbers = list(re.finditer(r"\d+", text))
    if kind == 2 and numbers:
        one = r.choice(numbers)
        return text[: one.start()] + str(abs(r.choice(INTS))) + text[one.end() :]
    words = list(re.finditer(r"\w+", text))
    if kind == 3 and len(words) > 1:
        one, other = r.choice(words), r.choice(words)
        return text[: one.start()] + other.group() + text[one.end() :]
    return text[:k] + text[r.randrange(len(text)) :]


def change(r, data, places):
    """One change somewhere. `places`: paths in it, of which some may be no more."""
    path = r.choice(places)
    owner, key = get(data, path[:-1]), path[-1]
    kind = r.randrange(8)
    if kind == 0:
        del owner[key]
    elif kind == 1 and isinstance(owner, list):
        owner.insert(key, copied(owner[key]))
    elif kind == 2 and isinstance(owner, list) and len(owner) > 1:
        other = r.randrange(len(owner))
        owner[key], owner[other] = owner[other], owner[key]
    elif kind == 3 and isinstance(owner, dict):
        name = r.choice(["x", "path", "budget", "behind", "terms", "\0"])
        owner[name] = odd_value(r, data, places, 0)
    else:
        owner[key] = odd_value(r, data, places, owner[key])


def better(r, data):
    """Claims more than holds, consistently; whether the steps bear it out is to be seen."""
    less = r.choice([1, 1, 2, 5, 50, 1000, 2**40])
    claim = data["claim"]
    sign = -1 if "least" in claim else 1
    if "proved" in claim and type(claim["proved"]) is int:
        claim["proved"] -= sign * less
    elif "property" in claim and isinstance(claim["property"], str):
        claim["property"] = re.sub(
            r"\d+$", lambda n: str(int(n[0]) - sign * less), claim["property"]
        )
    for bound in data["bounds"]:
        bound["most"] -= less
        for each in bound["certificates"]:
            each["bound"] -= -less if bound.get("maximum") is False else less
    for _ in range(r.randrange(6)):
        steps = r.choice(r.choice(data["bounds"])["certificates"])["steps"]
        if not steps:
            return
        step = r.choice(steps)
        kind = r.randrange(9)
        many = r.randrange(0, 6)
        if kind == 0:
            step["multipliers"] = [r.choice(INTS[:15]) for _ in range(many)]
        elif kind == 1:
            step["denominator"] = r.choice(INTS[1:16])
        elif kind == 2:
            step["budget"], step["quantum"] = r.randrange(3), r.choice(INTS[1:16])
        elif kind == 3:
            step["kind"] = r.choice(["no input", "relaxation", "point", "solver", "split"])
        elif kind == 4:
            step["chains"] = [
                [r.choice(INTS[:15]), [r.randrange(6) for _ in range(r.randrange(8))]]
                for _ in range(many)
            ]
        elif kind == 5:
            step["parts"] = [
                {"instant": r.randrange(30), "weight": r.choice(INTS[:15])} for _ in range(many)
            ]
        elif kind == 6:
            step["unit"], step["tuple"] = r.randrange(8), r.randrange(20)
            step["kind"] = "split"
            steps.append({"kind": "no input", "multipliers": []})
        elif kind == 7:
            data["space"]["constraints"] = []
        elif step.get("parts"):
            part = r.choice(step["parts"])
            part[r.choice(["weight", "instant", "behind", "quantum", "budget"])] = r.choice(INTS)


def mutant(r, originals):
    """(data of a mutant, None) or (None, its text)."""
    one = r.choice(originals)
    data, places = one.copy(), one.places
    kind = r.random()
    if kind < 0.04:  # a part of another certificate
        part, other = r.choice(sorted(data)), r.choice(originals).copy()
        if part in other:
            data[part] = other[part]
    if kind < 0.45:
        try:
            better(r, data)
            if r.random() < 0.3:
                change(r, data, places)
        except (TypeError, KeyError, AttributeError, IndexError, RecursionError, ValueError):
            pass
    else:
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            try:
                change(r, data, places)
            except (TypeError, KeyError, IndexError, RecursionError, ValueError):
                break
    if 0.15 < kind <= 0.93:
        try:
            return copied(data), None  # no part twice in it
        except (ValueError, RecursionError):
            return None, "[" * 100_000
    text = text_of(data)
    return None, odd_file(r, text) if kind > 0.93 else text


def copied(data):
    return marshal.loads(marshal.dumps(data))


def text_of(data):
    try:
        return json.dumps(data)
    except (RecursionError, ValueError):
        return "[" * 100_000


def odd_file(r, text):
    """A change of a certificate's text."""
    k, how = r.randrange(len(text)), r.randrange(6)
    if how == 0:
        return text[:k]
    if how == 1:
        return text[:k] + "[" * r.choice([900, 100_000]) + text[k:]
    if how == 2:
        return text.replace('"bounds"', '"bounds": [], "bounds"', 1)
    if how == 3:
        return text[:k] + "\0" + text[k:]
    if how == 4:
        return text.replace("1", "9" * r.choice([30, 4000, 100_000]), 1)
    return odd_text(r, text)
