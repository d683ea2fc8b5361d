"""Play for other programs: the verbs and questions of the pages, as JSON."""
