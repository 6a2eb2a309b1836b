"""What Carmel et al. (2022) print of product reviews in Table 7; `experiments.cutoffs.printed` has the answers."""

#: nDCG_f@3, nDCG_0@3, nDCG_min@3, and in percent F-docs@3, good documents filtered, queries left empty.
TABLE_7_REVIEWS = {
    "filter-all": (0.6112, 0.0, 0.4794, 0.0, 100.0, 100.0),
    "rank-only (ordinal)": (0.5889, 0.3862, 0.4852, 25.56, 0.0, 0.0),
    "filter-only (BCE)": (0.763, 0.313, 0.6392, 5.46, 19.62, 21.63),
    "BCE": (0.7678, 0.3021, 0.6438, 4.9, 19.62, 21.63),
    "MSE": (0.7729, 0.3173, 0.6526, 4.66, 22.74, 23.36),
    "ordinal": (0.7793, 0.3295, 0.6601, 4.62, 21.7, 22.95),
    "ordinal-weighted": (0.7708, 0.3148, 0.6478, 5.19, 18.07, 20.66),
    "LambdaRank": (0.7722, 0.34, 0.6536, 5.91, 21.42, 22.12),
    "LambdaRank+BCE": (0.7686, 0.3366, 0.6494, 6.09, 22.59, 22.61),
}
