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
#: Table 7, product reviews: the same.
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

#: Table 1, product reviews with 0, 1, 2 and at least 3 helpful votes: their share, and the spam among them, in percent.
TABLE_1 = ((83.16, 7.46, 3.02, 5.98), (25.53, 2.47, 2.68, 2.69))
#: By the text of section 4.1: spam among the reviews, in percent.
SPAM = 21
#: Table 2, community questions with 1, 2 and more answers, in percent.
TABLE_2 = (52.0, 24.1, 23.9)
#: By the text of section 4.1: thousands of questions and answers; forbidden answers, and questions that have no other,
#: in percent. By that of 5.3: thousands of questions with a single answer.
QUESTIONS, ANSWERS, FORBIDDEN, ALL_FORBIDDEN, SINGLE = 29.7, 61.0, 25.0, 16.8, 15
#: Table 5, k = 3: unbounded queries in percent, above 1 and below 0.
TABLE_5 = {"product reviews": (15.3, 14.3, 1.0), "community answers": (6.7, 4.8, 1.9)}
