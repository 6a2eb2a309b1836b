"""What the labelling pages and the rerank service share: headers, problems, shapes of JSON, and the door."""
