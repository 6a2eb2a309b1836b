"""Six measures on the submissions to the TREC Web Track, 2010-2014: ``python -m experiments.submissions``."""

from experiments.submissions.page import NEEDS as NEEDS
from experiments.submissions.page import files as files
