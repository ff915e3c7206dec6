"""Images: finding a runtime, getting or building an image, packages inside it."""
