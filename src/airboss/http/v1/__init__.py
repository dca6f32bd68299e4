"""The API of our own: resources, problems, cursors, one live feed."""
