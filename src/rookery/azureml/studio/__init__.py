"""azureml.studio: what callers of the designer's vision services import. The rest is the designer itself."""
