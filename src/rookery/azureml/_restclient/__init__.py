"""azureml._restclient: two constants that public advice tells people to patch."""
