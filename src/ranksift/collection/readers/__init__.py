"""Readers and writers, one file per format; :mod:`ranksift.collection.readers.formats` chooses among them."""
