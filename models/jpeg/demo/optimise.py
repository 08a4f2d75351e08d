"""Rewrites a JPEG, without loss, with Huffman tables made for it: `optimise.py IN.jpg OUT.jpg`.

The *_opt.jpg of this folder were made so from the files of the same name. Run it with the build's
`python` folder on PYTHONPATH.
"""

import sys
from pathlib import Path

from lpn_models_native import _jpeg


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(_jpeg.transcode(source.read_bytes(), optimise=True))


if __name__ == "__main__":
    main()
