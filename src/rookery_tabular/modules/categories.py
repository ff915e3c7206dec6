"""Where the palette shows modules."""

INPUT_OUTPUT = "Data Input and Output"
TRANSFORMATION = "Data Transformation"
CLASSIFICATION = "Machine Learning Algorithms/Classification"
REGRESSION = "Machine Learning Algorithms/Regression"
TRAIN = "Model Training"
SCORE = "Model Scoring & Evaluation"
PYTHON = "Python Language"
