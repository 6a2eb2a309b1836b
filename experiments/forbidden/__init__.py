"""The studies of measures with forbidden documents, repeated: ``python -m experiments.forbidden``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("forbidden", "measures-with-forbidden-documents.md", needs=("trec_web_qrels", "trec_web_runs"))
