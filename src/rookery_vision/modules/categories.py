"""Where the palette has them."""

IMAGE_DATA = "Computer Vision/Image Data Transformation"
IMAGE_CLASSIFICATION = "Computer Vision/Image Classification"
TRAIN = "Model Training"
SCORE = "Model Scoring & Evaluation"
