"""All rules, so that a file can name any of them."""

from ranksift.cutoffs.threshold import GlobalCutoff as GlobalCutoff
