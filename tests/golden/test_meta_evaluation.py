"""Paper 3's printed tables: what its own numbers give when PAD, swap rates and taus are recomputed from them.

Its score tables (2 to 5 and 12 to 15) hold the systems' scores by measure and k. Cells that do not follow from them are
listed as such, so that nobody takes them for a fault of the code.
"""

import numpy as np
import pytest

from ranksift import study
from ranksift.evaluation.scores import Scores

SYSTEMS = ["ARank", "LNet", "RBoost", "RF", "RNet", "CA", "L2LR", "LMART"]

MSLR = {
    "nDCG": """0.3218 0.3492 0.3704 0.3896 0.4237  0.1534 0.1827 0.2066 0.2288 0.2686
               0.3062 0.3346 0.3578 0.3777 0.4141  0.3832 0.4118 0.4325 0.4493 0.4795
               0.154 0.1833 0.207 0.2292 0.269     0.3985 0.4138 0.4288 0.4428 0.4707
               0.1977 0.2371 0.2696 0.2974 0.3444  0.4365 0.454 0.4706 0.4856 0.513""",
    "DCG_ul1": """0.249 0.2616 0.2719 0.2818 0.2995   0.0977 0.1124 0.1257 0.1384 0.1617
                  0.2327 0.2474 0.2601 0.2708 0.2907  0.3043 0.3187 0.3289 0.3365 0.3505
                  0.0982 0.113 0.126 0.1388 0.1621    0.3188 0.3208 0.3255 0.3306 0.3424
                  0.1373 0.1605 0.1809 0.1985 0.2278  0.3549 0.3588 0.3648 0.3706 0.3818""",
    "DCG_ul2": """0.2374 0.2531 0.2648 0.2761 0.2964  0.0469 0.0606 0.0721 0.0837 0.1048
                  0.2217 0.2374 0.2509 0.2626 0.2852  0.3086 0.3265 0.3385 0.3478 0.3652
                  0.0476 0.0614 0.0727 0.0843 0.1054  0.3259 0.3286 0.3341 0.3401 0.3545
                  0.0982 0.1248 0.1475 0.1671 0.1996  0.3677 0.3742 0.3824 0.3902 0.4056""",
    "MSP": """0.5414 0.4948 0.4724 0.4598 0.4493  0.3203 0.2994 0.293 0.2911 0.2943
              0.5449 0.4967 0.475 0.4618 0.452    0.6216 0.5717 0.5433 0.5244 0.5053
              0.3212 0.3008 0.2939 0.2919 0.2956  0.6235 0.5631 0.53 0.5107 0.4903
              0.356 0.3353 0.333 0.3353 0.3457    0.6487 0.5928 0.5613 0.5414 0.5198""",
    "MSP_ul1": """0.3856 0.3387 0.3156 0.3017 0.2868  0.1978 0.1732 0.1641 0.1597 0.1572
                  0.3905 0.3422 0.3196 0.305 0.2905   0.4579 0.4079 0.3791 0.3591 0.3363
                  0.1988 0.1745 0.1651 0.1606 0.1585  0.4594 0.4001 0.3673 0.3471 0.3231
                  0.226 0.2018 0.1963 0.1951 0.1982   0.482 0.4265 0.3948 0.3741 0.3488""",
    "MSP_ul2": """0.3472 0.3055 0.2799 0.2617 0.2373  -0.0721 -0.0573 -0.0508 -0.0452 -0.0389
                  0.3502 0.3019 0.2754 0.2567 0.2339  0.4783 0.427 0.39 0.3608 0.322
                  -0.0718 -0.0551 -0.0498 -0.0452 -0.038  0.4836 0.4127 0.3676 0.3385 0.2977
                  -0.0223 -0.004 0.0149 0.0312 0.055  0.5259 0.4632 0.4211 0.3896 0.3466""",
}

MQ2007 = {
    "nDCG": """0.3881 0.4156 0.448 0.4797 0.5372   0.3767 0.4035 0.4384 0.4687 0.5282
               0.3834 0.414 0.449 0.4807 0.5355    0.4035 0.4286 0.4609 0.4914 0.5476
               0.3809 0.4131 0.4451 0.4764 0.536   0.3928 0.4207 0.4544 0.4824 0.5399
               0.3873 0.4159 0.4474 0.4779 0.538   0.3931 0.4206 0.4535 0.4857 0.5441""",
    "DCG_ul1": """0.2882 0.2991 0.3157 0.3314 0.3558  0.2777 0.2886 0.3068 0.3213 0.3481
                  0.2822 0.2975 0.3161 0.3317 0.3542  0.2992 0.3095 0.3262 0.3409 0.3642
                  0.2791 0.2957 0.3133 0.3271 0.3536  0.2911 0.3031 0.32 0.3335 0.3582
                  0.2858 0.2991 0.315 0.3295 0.3562   0.2901 0.3019 0.3192 0.3355 0.361""",
    "DCG_ul2": """0.1348 0.2092 0.2587 0.2995 0.3638  0.1141 0.1872 0.2485 0.284 0.3453
                  0.1359 0.2061 0.2633 0.3042 0.3635  0.1681 0.2356 0.2859 0.3223 0.3866
                  0.1177 0.2044 0.2554 0.2908 0.3573  0.1512 0.2214 0.2762 0.3029 0.3666
                  0.1331 0.2097 0.2599 0.3001 0.368   0.1636 0.2311 0.2806 0.3183 0.3801""",
    "MSP": """0.3066 0.2923 0.302 0.3173 0.3624   0.3379 0.3233 0.3328 0.3468 0.3905
              0.3467 0.3366 0.3477 0.3636 0.4035  0.3674 0.352 0.3585 0.3736 0.414
              0.3281 0.3175 0.3275 0.3443 0.3878  0.3597 0.3457 0.356 0.3716 0.4127
              0.3543 0.3386 0.3458 0.3607 0.404   0.3582 0.3459 0.3539 0.3692 0.4101""",
    "MSP_ul1": """0.2366 0.219 0.2222 0.2287 0.2478   0.2676 0.2492 0.2519 0.257 0.2744
                  0.2738 0.2603 0.2647 0.2714 0.2853  0.2914 0.2732 0.2739 0.28 0.2941
                  0.259 0.2443 0.2476 0.2552 0.2724   0.2863 0.2689 0.2728 0.2794 0.2941
                  0.2806 0.2622 0.2633 0.2693 0.2861  0.2829 0.2673 0.2691 0.2755 0.2905""",
    # ARank at k = 15 is printed 0.0116; the printed PAD follows from 0.116
    "MSP_ul2": """0.0392 0.0778 0.116 0.14 0.1905    0.0909 0.1315 0.1638 0.1846 0.2257
                  0.123 0.154 0.188 0.213 0.2513     0.1586 0.1904 0.206 0.226 0.2729
                  0.085 0.1308 0.1567 0.1825 0.222   0.1422 0.1741 0.198 0.2204 0.2584
                  0.1232 0.1548 0.1846 0.2093 0.2543 0.1541 0.1949 0.2138 0.2369 0.2725""",
}


def scores(tables) -> Scores:
    """The printed means as scores of two queries, so that tests have something to test."""
    values = np.stack([np.array(text.split(), dtype=float).reshape(8, 5) for text in tables.values()], axis=1)
    cube = np.repeat(values.reshape(8, 1, 30), 2, axis=1)
    names = [f"{name}@{k}" for name in tables for k in (5, 10, 15, 20, 30)]
    return Scores.from_array(cube, runs=SYSTEMS, queries=["q1", "q2"], measures=names)


@pytest.fixture(scope="module")
def pad():
    with pytest.warns(UserWarning, match="the PAD of MSP_ul2 means little: 2 of 8 averages are negative"):
        mslr = study.discrimination(scores(MSLR), over_k=True).pad
    return {"MSLR": mslr, "MQ2007": study.discrimination(scores(MQ2007), over_k=True).pad}


PAD = [
    ("MSLR", "DCG_ul1", 35.7), ("MSLR", "DCG_ul2", 46.7), ("MSLR", "MSP", 25.57), ("MSLR", "MSP_ul1", 31.84),
    ("MSLR", "MSP_ul2", 97.63), ("MQ2007", "nDCG", 1.74), ("MQ2007", "DCG_ul2", 6.42), ("MQ2007", "MSP", 5.91),
    ("MQ2007", "MSP_ul2", 20.01),
]  # fmt: skip


@pytest.mark.parametrize(("collection", "measure", "printed"), PAD)
def test_percentage_absolute_differences(pad, collection, measure, printed):
    assert abs(pad[collection][measure] - printed) <= max(0.1, 0.005 * printed)


@pytest.mark.parametrize(
    ("collection", "measure", "printed", "found"),
    [("MSLR", "nDCG", 31, 29.78), ("MQ2007", "DCG_ul1", 3.6, 2.11), ("MQ2007", "MSP_ul1", 6.86, 6.96)],
)
def test_percentage_absolute_differences_that_do_not_follow(pad, collection, measure, printed, found):
    assert pad[collection][measure] == pytest.approx(found, abs=0.006)
    assert abs(found - printed) > 0.09


def test_the_larger_average_of_a_pair_is_taken_with_its_sign(pad):
    """By absolute value the paper's 97.63 would be 74.5."""
    average = np.array([float(x) for x in MSLR["MSP_ul2"].split()]).reshape(8, 5).mean(axis=1)
    i, j = np.triu_indices(8, 1)
    absolute = np.abs(average[i] - average[j]) / np.maximum(np.abs(average[i]), np.abs(average[j]))
    assert 100 * absolute.mean() == pytest.approx(74.5, abs=0.05)
    assert pad["MSLR"]["MSP_ul2"] == pytest.approx(97.4, abs=0.05)


TAU = [
    ("MSLR", "nDCG", "DCG_ul1", 1), ("MSLR", "nDCG", "DCG_ul2", 1), ("MQ2007", "nDCG", "DCG_ul1", 1),
    ("MQ2007", "nDCG", "DCG_ul2", 0.785), ("MSLR", "MSP", "MSP_ul1", 1), ("MSLR", "MSP", "MSP_ul2", 0.928),
    ("MQ2007", "MSP", "MSP_ul1", 1), ("MQ2007", "MSP", "MSP_ul2", 0.785),
]  # fmt: skip


@pytest.mark.parametrize(("collection", "measure", "other", "printed"), TAU)
def test_taus_of_all_queries(collection, measure, other, printed):
    tables = {"MSLR": MSLR, "MQ2007": MQ2007}[collection]
    # the paper cuts digits off
    assert study.agreement(scores(tables), over_k=True).tau[measure, other] == pytest.approx(printed, abs=0.001)


@pytest.mark.parametrize(
    ("measure", "swapped", "printed"),
    [("DCG_ul2", 3, 0.107), ("MSP", 7, 0.25), ("MSP_ul1", 7, 0.25), ("MSP_ul2", 5, 0.178)],
)
def test_swap_rates_across_the_collections(measure, swapped, printed):
    found = study.consistency(scores(MSLR), scores(MQ2007), over_k=True).swap_rate[measure]
    assert found == swapped / 28
    assert found == pytest.approx(printed, abs=0.001)


@pytest.mark.parametrize("measure", ["nDCG", "DCG_ul1"])
def test_swap_rates_that_do_not_follow(measure):
    """The paper prints 0.107 = 3/28."""
    assert study.consistency(scores(MSLR), scores(MQ2007), over_k=True).swap_rate[measure] == 2 / 28
