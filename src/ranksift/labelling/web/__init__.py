"""Pages on which assessors judge and leads follow, and the JSON API that does the same."""

from ranksift.labelling.web.application import application as application
from ranksift.labelling.web.settings import Settings as Settings
