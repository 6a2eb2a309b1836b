"""What Gienapp et al. 2020 print, to stand beside what is computed here."""

from experiments.forbidden.printed import TABLE_2D

#: Table 2d: Φ of nDCG_0 at k = 20, the relative of the official nDCG@20 among their measures.
PHI_NDCG_0_AT_20 = {year: rows["nDCG_0"][-1] for year, rows in TABLE_2D.items()}
