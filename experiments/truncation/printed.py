"""What Liu et al. 2016 print, to stand beside what is computed here."""

#: Table 3: Kendall's tau between the orders of 47 systems by each original measure and by its modified one.
TABLE_3 = {"RR": 0.960, "nDCG": 0.958, "RBP": 0.916, "AP": 0.870}
#: Section 3: questions, and those without an answer.
QUESTIONS, NIL_QUESTIONS = 492, 49
#: Section 3: answers of a question that has any, on average.
ANSWERS = 25.7
#: Section 3: lists, those of five answers before and after the NIL rule, and those that were ended on purpose.
LISTS, FIVES_BEFORE, FIVES_AFTER, TRUNCATED = 23124, 20000, 16000, 7000
