"""What a CSV file must be to be a profile."""

import pytest
from lpn import Error
from models.bluefield.predictor import profile_table


MEMORY = "flow_count,comp_wss_MB,comp_l2d_rd_per_s,comp_l2d_wr_per_s,throughput_kpps\n"


@pytest.mark.parametrize(
    "text, told",
    [
        ("", ":1: no header"),
        ("a,b\n1,2\n", "no known kind of profile"),
        (MEMORY, "no rows below the header"),
        (MEMORY + "1,2,3,4\n", ":2: 4 cells"),
        (MEMORY + "1,2,3,4,0\n", "throughput_kpps is '0'; it must be a positive number"),
        (MEMORY + "1,2,nan,4,5\n", "comp_l2d_rd_per_s is 'nan'"),
        (MEMORY + "1,2,3e300,4,5\n", "comp_l2d_rd_per_s is '3e300'; it must be 0 to 1e+15"),
        (MEMORY + "1,2,3,4,5e300\n", "throughput_kpps is '5e300'; it must be 1e-12 to 1e+15"),
        (MEMORY + "1,2,3,4,5e-300\n", "throughput_kpps is '5e-300'; it must be 1e-12 to 1e+15"),
        (MEMORY + "1,2,1_0,4,5\n", "comp_l2d_rd_per_s is '1_0'"),
        (MEMORY + "1,-2,3,4,5\n", "comp_wss_MB is '-2'"),
        (
            "comp_wss_mb," + MEMORY + "1,1,2,3,4,5\n",
            "'comp_wss_mb' would not count; did you mean 'comp_wss_MB'?",
        ),
        (
            "comp_llc_misses," + MEMORY + "1,1,2,3,4,5\n",
            "column 'comp_llc_misses' would not count; columns",
        ),
        ("pkt_size," + MEMORY + "1,1,2,3,4,5\n", "did you mean 'pkt_size_B'?"),
        ("comp_wss_MB,comp_wss_MB\n1,2\n", "there twice"),
        ("regex_time_per_pkt_ms\n1\n", "missing: mtbr_matches_per_MB"),
    ],
)
def test_what_is_no_profile_is_refused(tmp_path, text, told):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(Error) as error:
        profile_table.read(str(file))
    assert (
        error.value.code == "E-profile"
        and told in str(error.value)
        and "bad.csv" in str(error.value)
    )
