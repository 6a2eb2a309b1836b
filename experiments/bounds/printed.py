"""What Karmaker and Feng (2022) print for MQ2007: eight learners, k = 5, 10, 15, 20, 30."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from experiments.bounds.readings import PRINTED, Reading

LISTNET = "LNet"

#: Table 3: nDCG.
NDCG = {
    "ARank": (0.3881, 0.4156, 0.448, 0.4797, 0.5372),
    "LNet": (0.3767, 0.4035, 0.4384, 0.4687, 0.5282),
    "RBoost": (0.3834, 0.414, 0.449, 0.4807, 0.5355),
    "RF": (0.4035, 0.4286, 0.4609, 0.4914, 0.5476),
    "RNet": (0.3809, 0.4131, 0.4451, 0.4764, 0.536),
    "CA": (0.3928, 0.4207, 0.4544, 0.4824, 0.5399),
    "L2LR": (0.3873, 0.4159, 0.4474, 0.4779, 0.538),
    "LMART": (0.3931, 0.4206, 0.4535, 0.4857, 0.5441),
}
#: Table 5: DCG, V1 and V2.
DCG_V1 = {
    "ARank": (0.2882, 0.2991, 0.3157, 0.3314, 0.3558),
    "LNet": (0.2777, 0.2886, 0.3068, 0.3213, 0.3481),
    "RBoost": (0.2822, 0.2975, 0.3161, 0.3317, 0.3542),
    "RF": (0.2992, 0.3095, 0.3262, 0.3409, 0.3642),
    "RNet": (0.2791, 0.2957, 0.3133, 0.3271, 0.3536),
    "CA": (0.2911, 0.3031, 0.32, 0.3335, 0.3582),
    "L2LR": (0.2858, 0.2991, 0.315, 0.3295, 0.3562),
    "LMART": (0.2901, 0.3019, 0.3192, 0.3355, 0.361),
}
DCG_V2 = {
    "ARank": (0.1348, 0.2092, 0.2587, 0.2995, 0.3638),
    "LNet": (0.1141, 0.1872, 0.2485, 0.284, 0.3453),
    "RBoost": (0.1359, 0.2061, 0.2633, 0.3042, 0.3635),
    "RF": (0.1681, 0.2356, 0.2859, 0.3223, 0.3866),
    "RNet": (0.1177, 0.2044, 0.2554, 0.2908, 0.3573),
    "CA": (0.1512, 0.2214, 0.2762, 0.3029, 0.3666),
    "L2LR": (0.1331, 0.2097, 0.2599, 0.3001, 0.368),
    "LMART": (0.1636, 0.2311, 0.2806, 0.3183, 0.3801),
}
#: Table 13: MAP.
MAP = {
    "ARank": (0.3066, 0.2923, 0.302, 0.3173, 0.3624),
    "LNet": (0.3379, 0.3233, 0.3328, 0.3468, 0.3905),
    "RBoost": (0.3467, 0.3366, 0.3477, 0.3636, 0.4035),
    "RF": (0.3674, 0.352, 0.3585, 0.3736, 0.414),
    "RNet": (0.3281, 0.3175, 0.3275, 0.3443, 0.3878),
    "CA": (0.3597, 0.3457, 0.356, 0.3716, 0.4127),
    "L2LR": (0.3543, 0.3386, 0.3458, 0.3607, 0.404),
    "LMART": (0.3582, 0.3459, 0.3539, 0.3692, 0.4101),
}
#: Table 15: MSP, V1 and V2. ARank's V2 at 15 is printed as 0.0116, a misprint for 0.116 by Table 19.
MSP_V1 = {
    "ARank": (0.2366, 0.219, 0.2222, 0.2287, 0.2478),
    "LNet": (0.2676, 0.2492, 0.2519, 0.257, 0.2744),
    "RBoost": (0.2738, 0.2603, 0.2647, 0.2714, 0.2853),
    "RF": (0.2914, 0.2732, 0.2739, 0.28, 0.2941),
    "RNet": (0.259, 0.2443, 0.2476, 0.2552, 0.2724),
    "CA": (0.2863, 0.2689, 0.2728, 0.2794, 0.2941),
    "L2LR": (0.2806, 0.2622, 0.2633, 0.2693, 0.2861),
    "LMART": (0.2829, 0.2673, 0.2691, 0.2755, 0.2905),
}
MSP_V2 = {
    "ARank": (0.0392, 0.0778, 0.116, 0.14, 0.1905),
    "LNet": (0.0909, 0.1315, 0.1638, 0.1846, 0.2257),
    "RBoost": (0.123, 0.154, 0.188, 0.213, 0.2513),
    "RF": (0.1586, 0.1904, 0.206, 0.226, 0.2729),
    "RNet": (0.085, 0.1308, 0.1567, 0.1825, 0.222),
    "CA": (0.1422, 0.1741, 0.198, 0.2204, 0.2584),
    "L2LR": (0.1232, 0.1548, 0.1846, 0.2093, 0.2543),
    "LMART": (0.1541, 0.1949, 0.2138, 0.2369, 0.2725),
}

#: Each measure and its V1 and V2, by learner.
SCORES = {"nDCG": (NDCG, DCG_V1, DCG_V2), "MAP": (MAP, MSP_V1, MSP_V2)}

# From here on: (all, uninformative, ideal) of MQ2007, for the measure itself, V1 and V2.

#: Tables 6 and 16: Kendall's τ with the measure itself.
TAU = {"nDCG": ((1.0, 1.0, 1.0), (0.785, 0.928, 1.0)), "MAP": ((1.0, 1.0, 1.0), (0.785, 0.624, 1.0))}
#: Tables 7 and 17: conflicts with the measure itself, of 140.
CONFLICTS = {"nDCG": ((0, 20, 1), (6, 24, 8)), "MAP": ((1, 2, 3), (8, 21, 17))}
#: Tables 8 and 18: significant pairs, of 140.
SIGNIFICANT = {"nDCG": ((0, 9, 7), (0, 29, 8), (6, 33, 15)), "MAP": ((45, 0, 71), (50, 2, 74), (59, 21, 88))}
TESTED = 140
#: Tables 9 and 19: PAD.
PAD = {
    "nDCG": ((1.74, 5.85, 1.61), (3.6, 7.825, 1.98), (6.42, 44.81, 2.98)),
    "MAP": ((5.91, 5.89, 6.77), (6.86, 7.19, 8.04), (20.01, 28.27, 13.49)),
}
#: Tables 10 and 20: swap rate between MSLR-WEB30K and MQ2007.
ACROSS_COLLECTIONS = {
    "nDCG": ((0.107, 0.42, 0.35), (0.107, 0.42, 0.35), (0.107, 0.42, 0.35)),
    "MAP": ((0.25, 0.357, 0.2857), (0.25, 0.321, 0.25), (0.178, 0.25, 0.321)),
}
#: Tables 11 and 21: swap rate between uninformative and ideal queries.
ACROSS_SETS = {"nDCG": (0.5, 0.5, 0.5), "MAP": (0.3928, 0.3928, 0.2857)}


def learners(scores: Mapping[str, tuple[float, ...]]) -> np.ndarray:
    """Learners × k."""
    return np.array(list(scores.values()))


def beside(
    reading: Reading, values: Mapping[str, Sequence[Sequence[float]]], i: int, written: Callable[[float], str]
) -> list[str]:
    """Cells for all, uninformative and ideal queries, beside the reading that they follow."""
    return [written(value) for value in values[reading.tables][i]] if reading in PRINTED else ["", "", ""]
