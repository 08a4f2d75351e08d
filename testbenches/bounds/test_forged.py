"""Certificates that somebody forged or damaged: each is refused with the reason, soon, with status 1."""

import json
from pathlib import Path

import lpn
import pytest
from lpn.proofs.certificate import check, data_of

FORGED = Path(__file__).parent / "forged"


class Job(lpn.Token):
    size: lpn.Int[2, 9]


def space(jobs=2):
    net = lpn.Net("a")
    place, done = net.place("jobs", Job, start=True), net.place("done", done=True)
    net.transition("t", take={"j": place}, put=[done], delay=lambda j: j.size + 3, servers=1)
    space = lpn.InputSpace(net)
    space.tokens("jobs", jobs)
    return space


def proof():
    return json.loads(json.dumps(lpn.maximize(space()).certificate))


def refusal(run, path, *more):
    """Why `lpn smt --check` refuses a file, which it must."""
    answer = run("lpn", "smt", "--check", path, "--json", *more)
    assert answer.status == 1, (answer.status, answer.out, answer.err)
    assert "Traceback" not in answer.err and answer.json["verdict"] == "refused"
    shown = run("lpn", "smt", "--check", path, *more)
    assert shown.status == 1 and f"{path}: refused: " in shown.out
    return answer.json["why"]


WHY = {
    "count_above_rows": "the number of tokens may be 3, but it has 0..2 rows",
    "count_negative": "the number of tokens may be -1, but it has 0..2 rows",
    "count_negative_stall": "the number of tokens may be -1, but it has 0..4 rows",
    "count_of_many": "rows",
    "count_of_terabytes": "the number of tokens may be 1099511627776",
    "infinity": "Infinity is no whole number",
    "names_with_nul": "'v\\x00a' names no variable of a space",
    "number_of_many_digits": "what is proved is no number but '1e999999999'",
    "property_of_many_cases": "is the largest of more than 256 sums",
}


@pytest.mark.parametrize("path", sorted(FORGED.glob("*.json")), ids=lambda path: path.stem)
def test_a_forged_certificate_is_refused(run, path):
    assert WHY[path.stem] in refusal(run, path)


def test_multipliers_whose_products_overflow_prove_nothing():
    """Sums of 2**54 times multipliers of 2**63, a thousand of them: beyond 128 bits."""
    net = lpn.Net.parse(
        "lpn 1\nnet one\ntype Tok (a: 0..1000)\ntype Bit (x: 0..1)\ntype Token ()\n"
        "place in : Tok start\nplace bits : Bit start\nplace done : Token done\n"
        "transition work {\n  take t from in\n  delay t.a\n  servers 1\n  put done\n}\n"
        "transition drain {\n  take b from bits\n  delay 0\n  servers 1\n}\nend\n"
    )
    inputs = lpn.InputSpace(net)
    inputs.tokens("in", 1)
    bits = inputs.tokens("bits", 1100)
    sum_ = lpn.total(bit.x * ((1 << 44) - 1) for bit in bits)
    for k in range(1000):
        inputs.require(sum_ >= k + 1)
    data = json.loads(json.dumps(lpn.maximize(inputs).certificate))
    assert check(data).holds
    data["claim"]["proved"] = data["bounds"][0]["most"] = 5
    for each in data["bounds"][0]["certificates"]:
        each["bound"] = 5
        each["steps"] = [{"kind": "no input", "multipliers": [2**63 - 1] * 1000}]
        assert "numbers too large" in check(data).why
        each["steps"] = [{"kind": "no input", "multipliers": [2**40] * 1000}]
        assert "multipliers that limits can meet" in check(data).why


@pytest.mark.parametrize(
    "text",
    ["9000000000000000000*latency <= 5", "9000000000000000000*busy(t) <= 5"],
)
def test_a_quantity_that_leaves_64_bits_is_refused_and_no_empty_space(text):
    with pytest.raises(lpn.Error, match="do not fit in 64 bits") as caught:
        lpn.prove(space(), text)
    assert caught.value.code == "E-property"


def test_an_interface_that_may_fail_is_refused():
    for function in (lambda x: 100 // (x.jobs[0].size - 2), lambda x: x.jobs[0].size << 62):
        with pytest.raises(lpn.Error, match="for all") as caught:
            lpn.prove(space(), "E - latency <= 5", interface=function)
        assert caught.value.code == "E-property"


def deep(levels):
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "no JSON"),
        ("{}", "it has no 'lpn certificate'"),
        ("[]", "it is no object"),
        (deep(100_000), "nested too deeply"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('{"a": 1, "a": 1}', "'a' stands in one object twice"),
        ('{"a": %s}' % ("9" * 100_000), "a number of 100000 digits"),
        ('{"a": 1e5}', "1e5 is no whole number"),
        ('{"a": NaN}', "NaN is no whole number"),
        ('{"lpn certificate": 2}', "in format 2; this program reads 1"),
        ("\0", "no JSON"),
    ],
)
def test_text_that_is_no_certificate(run, tmp_path, text, why):
    path = tmp_path / "proof.json"
    path.write_text(text)
    assert why in refusal(run, path)


def members(data, *path):
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize(
    "path, value, why",
    [
        (("claim", "proved"), "5/0", "no number but '5/0'"),
        (("claim", "proved"), True, "no number but True"),
        (("claim", "largest"), "latency # <= 5", "no formula"),
        (("claim", "largest"), "-" * 9000 + "latency", "E-property"),
        (("claim",), {"largest": "latency"}, "neither a property nor"),
        (("bounds", 0, "most"), 24.0, "24.0 is no whole number"),
        (("bounds", 0, "paths"), True, "no whole number but True"),
        (("interface denominator",), 0, "not positive"),
        (("partition", "seed"), -1, "outside 0..2**63 - 1"),
        (("stalls",), 0, "neither true nor false"),
        (("net",), "lpn 1\nnet", "E-text"),
        (("witness",), {"jobs[0].size": 2**70}, "E-"),
        (("space", "nodes", 0), ["param", 7], "no such variable"),
        (("space", "nodes"), [["param", 0], ["add", 0, 0]] * 200, "E-"),
        (("space", "variables", 0, 0), "jobs[1].size", "E-duplicate"),
        (("space", "variables", 0, 1), -(2**62) - 1, "E-space"),
        (("bounds", 0, "certificates", 0, "steps", 0, "denominator"), 2**63, "no whole number"),
        (("bounds", 0, "certificates", 0, "steps", 0, "denominator"), 2**63 - 1, "too large"),
        (("bounds", 0, "certificates", 0, "steps"), [], "without a step"),
    ],
)
def test_data_that_is_no_certificate(tmp_path, path, value, why):
    data = proof()
    assert check(data).holds
    members(data, *path[:-1])[path[-1]] = value
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(data))
    try:
        assert why in check(data_of(file)).why
    except lpn.Error as error:
        assert error.code == "E-certificate" and why in str(error), error


def test_work_without_end_is_stopped_and_said_to_be_unknown(run, tmp_path):
    """A space that is no trouble to write and takes long to execute."""
    data = json.loads(json.dumps(lpn.maximize(space(6)).certificate))
    data["net"] = data["net"].replace("delay j.size + 3", "delay 1").replace("servers 1", "")
    data["net"] = data["net"].replace("  take j from jobs", "  take j from jobs when j.size > 4")
    rest = "transition u {\n  take j from jobs when j.size <= 4\n  delay j.size\n  put done\n}\n"
    data["net"] = data["net"].replace("end\n", rest + "end\n")
    nodes, rows = data["space"]["nodes"], data["space"]["tokens"][0]["rows"]
    for k in range(6, 300):
        data["space"]["variables"].append([f"jobs[{k}].size", 2, 9])
        nodes.append(["param", k])
        rows.append([len(nodes) - 1])
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(data))
    answer = run("lpn", "smt", "--check", path, "--limit", "1", "--json")
    assert (answer.status, answer.json["verdict"]) == (3, "unknown"), answer.out
    assert answer.json["why"] == "the limit of 1 s was reached"
