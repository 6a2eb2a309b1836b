"""The rerank service: trained rankers and fitted cutoffs over HTTP, and an empty answer is an answer."""
