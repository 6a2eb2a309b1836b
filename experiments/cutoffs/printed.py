"""What Carmel et al. (2022) print."""

#: Table 6: nDCG_f of showing nothing and of showing everything, on queries with a single document.
TABLE_6 = {"product reviews": (0.453, 0.547), "community answers": (0.262, 0.738)}

#: Table 7, community answers: nDCG_f@3, nDCG_0@3, nDCG_min@3, and in percent F-docs@3, good documents filtered, queries
#: left empty.
TABLE_7 = {
    "filter-all": (0.3404, 0.0, -0.2723, 0.0, 100.0, 100.0),
    "rank-only (ordinal)": (0.7197, 0.7912, 0.2296, 24.49, 0.0, 0.0),
    "filter-only (BCE)": (0.7433, 0.7127, 0.2251, 16.83, 8.34, 11.31),
    "BCE": (0.7516, 0.719, 0.2293, 16.59, 8.34, 11.31),
    "MSE": (0.7578, 0.7279, 0.2466, 16.46, 7.61, 10.89),
    "ordinal": (0.7609, 0.74, 0.2566, 17.10, 6.71, 9.68),
    "ordinal-weighted": (0.7552, 0.7311, 0.2414, 17.13, 7.14, 10.01),
    "LambdaRank": (0.7045, 0.7795, 0.2077, 25.14, 0.03, 0.03),
    "LambdaRank+BCE": (0.7566, 0.7323, 0.2505, 16.97, 7.27, 10.31),
}
