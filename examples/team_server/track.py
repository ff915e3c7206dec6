"""A stock MLflow script: it knows nothing of Rookery, only MLFLOW_TRACKING_URI and MLFLOW_TRACKING_TOKEN."""

import mlflow

mlflow.set_experiment("tracked")
with mlflow.start_run() as run:
    mlflow.log_param("lr", 0.1)
    for step in range(10):
        mlflow.log_metric("loss", 1.0 / (step + 1), step=step)
    mlflow.log_text("chicken\nturkey\n", "labels.txt")
print(run.info.run_id)
