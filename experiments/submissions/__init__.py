"""Six measures on the submissions to the TREC Web Track, 2010-2014: ``python -m experiments.submissions``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "submissions", "submissions.md", needs=("trec_web_pertopic_scores", "trec_web_qrels", "trec_web_runs")
)
