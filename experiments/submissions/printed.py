"""What Gienapp et al. 2020 print, to stand beside what is computed here."""

#: Table 2d: Φ of nDCG_0 at k = 20, the relative of the official nDCG@20 among their measures.
PHI_NDCG_0_AT_20 = {2011: 0.975, 2012: 0.940}
