"""A systolic array of n x n equal processing elements: operands move right and down, one per cycle."""

import lpn


def net(*, n=16):
    """n*n transitions; each element takes an operand from the left and one from above."""
    net = lpn.Net("array")
    right = [[net.place(f"r{i}_{j}", start=j == 0) for j in range(n)] for i in range(n)]
    down = [[net.place(f"d{i}_{j}", start=i == 0) for j in range(n)] for i in range(n)]
    done = net.place("done", done=True, sink=True)
    for i in range(n):
        for j in range(n):
            put = [right[i][j + 1]] if j + 1 < n else []
            put += [down[i + 1][j]] if i + 1 < n else []
            net.transition(
                f"pe{i}_{j}",
                take={"a": right[i][j], "b": down[i][j]},
                put=put or [done],
                delay=1,
                servers=1,
            )
    return net


def workload(count, net):
    """That many operands at each edge: count * n * n firings, the last at count + 2n - 2."""
    marking = lpn.Marking(net)
    n = round(len(list(net.transitions)) ** 0.5)
    for i in range(n):
        marking.add(f"r{i}_0", count=int(count))
        marking.add(f"d0_{i}", count=int(count))
    return marking
