"""The sentences of docs/semantics.md, and the golden nets that show each: sentences.txt.

    sentences.py          checks sentences.txt: the test
    sentences.py --new    prints the sentences that it lacks

Every sentence of the law from "What a net consists of" to "Trace" stands in sentences.txt, word for word, with
the nets below it, indented; what no net can show names another test (with its folder) or says `no rule: WHY`. So a changed sentence
asks for its nets to be looked at again. Rows of tables and items of lists count as sentences.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LAW = ROOT / "docs/semantics.md"
FIRST, AFTER = "## What a net consists of", "## Order-free evaluation"


def blocks(text):
    """Paragraphs, list items and table rows of the law, each on one line."""
    lines = text[text.index(FIRST) : text.index(AFTER)].splitlines()
    block = []
    for line in lines + [""]:
        starts_item = re.match(r"\s*(?:[-|] ?|\d+\. [*\w])", line)
        if not line.strip() or line.startswith("#") or starts_item:
            if block:
                yield " ".join(block)
            block = []
        if line.strip() and not line.startswith("#"):
            block.append(line.strip())


def sentences(text):
    for block in blocks(text):
        if block.startswith("|"):
            if not re.match(r"\|[-| ]*\|$", block):
                yield block
            continue
        block = re.sub(r"^(?:-|\d+\.) ", "", block)
        yield from re.split(r"(?<=[.!?]) (?=[A-Z*`(])", block)


def listed(text):
    """{sentence: nets or [no rule: ...]} of sentences.txt."""
    table, sentence = {}, None
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            sentence = line
            table[sentence] = []
        elif line.strip().startswith("no rule: "):
            table[sentence].append(line.strip())
        else:
            table[sentence] += line.split()
    return table


def problems():
    table = listed((HERE / "sentences.txt").read_text())
    law = list(sentences(LAW.read_text()))
    for sentence in law:
        if sentence not in table:
            yield f"a sentence of the law has no net: {sentence}"
    for sentence, nets in table.items():
        if sentence not in law:
            yield f"no sentence of the law (any more): {sentence}"
        if not nets:
            yield f"neither a net nor a reason: {sentence}"
        for net in nets:
            file = ROOT / net if "/" in net else HERE / f"{net}.lpn"
            if not net.startswith("no rule: ") and not file.exists():
                yield f"there is no {file.relative_to(ROOT)}"
    named = {net for nets in table.values() for net in nets}
    for file in sorted(HERE.glob("*.lpn")):
        if file.stem not in named:
            yield f"{file.stem}.lpn is named by no sentence"


def main():
    if "--new" in sys.argv:
        table = listed((HERE / "sentences.txt").read_text())
        print("\n".join(s for s in sentences(LAW.read_text()) if s not in table))
        return 0
    found = list(problems())
    print("\n".join(found + [f"{len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
