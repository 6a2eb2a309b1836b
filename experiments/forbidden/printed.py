"""What Gienapp et al. 2020 print, to stand beside what is computed here."""

#: Table 2a: share of topics whose lowest nDCG_org is below 0, and at most −1, in percent.
TABLE_2A = {2010: (100, 44), 2011: (94, 68), 2012: (96, 8), 2013: (74, 18), 2014: (70, 12)}
#: The depths at which it was computed, by the text.
DEPTHS = {2010: 20, 2011: 20, 2012: 20, 2013: 15, 2014: 15}
#: Table 2b: Spearman's rho of nDCG_org with nDCG_0, of nDCG_org with nDCG_min, of both others.
TABLE_2B = {
    2010: (0.87, 1.00, 0.88),
    2011: (0.79, 0.99, 0.82),
    2012: (0.91, 0.99, 0.93),
    2013: (0.93, 0.96, 0.97),
    2014: (0.95, 0.97, 0.99),
}
#: Table 2d: the coefficient Φ at k = 5, 10, 15, 20.
TABLE_2D = {
    2011: {
        "nDCG_org": (0.903, 0.937, 0.950, 0.924),
        "nDCG_0": (0.977, 0.973, 0.978, 0.975),
        "nDCG_min": (0.996, 0.993, 0.988, 0.984),
    },
    2012: {
        "nDCG_org": (0.969, 0.930, 0.942, 0.967),
        "nDCG_0": (0.958, 0.975, 0.959, 0.940),
        "nDCG_min": (0.994, 0.995, 0.996, 0.996),
    },
}
