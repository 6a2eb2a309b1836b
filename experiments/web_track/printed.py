"""What the papers print, to stand beside what is computed here."""

#: Carmel et al. 2022, Table 3: topics, judgments, runs, and the share of each label −2, 0, 1, 2, 3, 4 in percent.
TABLE_3 = {
    2010: (48, 25329, 56, (5.65, 73.70, 15.90, 4.25, 0.54, 0.0)),
    2011: (50, 19381, 62, (5.25, 78.45, 10.50, 3.67, 2.11, 0.0)),
    2012: (50, 16055, 48, (5.34, 72.71, 13.75, 2.52, 0.32, 5.34)),
    2013: (50, 14474, 61, (1.62, 69.80, 21.03, 6.36, 1.24, 0.05)),
    2014: (50, 14432, 44, (3.86, 56.90, 26.25, 11.18, 1.59, 0.23)),
}
#: The same paper's average number of judgments a topic.
MEAN_POOL = 321.7
#: Its Table 4: judged results a topic (mean, standard deviation, minimum), averaged over the submitted runs.
TABLE_4 = {
    2010: (220.5, 57.4, 26.1),
    2011: (171.6, 47.8, 39.5),
    2012: (125.9, 42.9, 41.6),
    2013: (121.3, 59.8, 23.0),
    2014: (141.0, 62.5, 44.5),
}
#: Its Table 5: unbounded topics at k = 300 in percent: all, over, under.
TABLE_5 = {
    2011: (9.2, 7.2, 2.0),
    2012: (11.0, 10.2, 0.8),
    2013: (18.8, 3.7, 15.1),
    2014: (25.3, 8.3, 17.0),
}
#: Gienapp et al. 2020, Table 1: runs, and the mean ratio of each label −2, 0, 1, 2, 3, 4 in a topic.
TABLE_1 = {
    2010: (56, (0.05, 0.73, 0.17, 0.05, 0.01, 0.00)),
    2011: (37, (0.06, 0.77, 0.12, 0.05, 0.10, 0.00)),
    2012: (32, (0.05, 0.73, 0.14, 0.04, 0.02, 0.06)),
    2013: (34, (0.02, 0.70, 0.21, 0.08, 0.02, 0.01)),
    2014: (30, (0.06, 0.57, 0.26, 0.11, 0.03, 0.02)),
}
