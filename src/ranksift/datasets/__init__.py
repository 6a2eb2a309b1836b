"""Collections to work on: synthetic ones, and loaders of public ones."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.datasets.carmel import carmel_cqa as carmel_cqa
    from ranksift.datasets.forum import Forum as Forum
    from ranksift.datasets.forum import synthetic_forum as synthetic_forum
    from ranksift.datasets.letor import mq2007 as mq2007
    from ranksift.datasets.letor import mq2007_agg as mq2007_agg
    from ranksift.datasets.letor import mq2008 as mq2008
    from ranksift.datasets.percqa import percqa_threads as percqa_threads
    from ranksift.datasets.reviews import Reviews as Reviews
    from ranksift.datasets.reviews import product_reviews as product_reviews
    from ranksift.datasets.semeval import semeval2015 as semeval2015
    from ranksift.datasets.semeval import semeval2015_threads as semeval2015_threads
    from ranksift.datasets.semeval import semeval2016_threads as semeval2016_threads
    from ranksift.datasets.simple_features import thread_features as thread_features
    from ranksift.datasets.synthetic import synthetic_collection as synthetic_collection
    from ranksift.datasets.synthetic import synthetic_safety as synthetic_safety
    from ranksift.datasets.synthetic import write_collection as write_collection
    from ranksift.datasets.thread_texts import thread_texts as thread_texts
    from ranksift.datasets.threads import Answer as Answer
    from ranksift.datasets.threads import Thread as Thread
    from ranksift.datasets.threads import distinct_threads as distinct_threads
    from ranksift.datasets.wikiqa import wikiqa as wikiqa

export(__name__)
