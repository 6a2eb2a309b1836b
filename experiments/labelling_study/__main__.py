"""Write the page: ``python -m experiments.labelling_study``."""

from experiments import labelling_study
from experiments.publish import publish

if __name__ == "__main__":  # not where a worker process imports it
    publish(labelling_study)
