"""The article's model behind an address: deploy, score a picture, share the traffic, take it down. Nothing but `azureml` imports.

    python examples/deploy_birds.py [--num_epochs 4] [--picture FILE] [--keep]

Takes the registered model 'pytorch-birds'; where there is none, it trains one first. Prints label and probability of a picture that the
training has not seen.
"""

import argparse
import os
import shutil
import sys
import tempfile

from azureml.core import Environment, Model, Webservice, Workspace
from azureml.core.model import InferenceConfig
from azureml.core.webservice import LocalWebservice
from azureml.exceptions import WebserviceException

HERE = os.path.dirname(os.path.abspath(__file__))
BIRDS = os.path.join(HERE, "birds")
SERVICE = "pytorch-birds"


def main(num_epochs=4, picture="", is_kept=False, ws=None):
    """Returns what the service answered for the picture."""
    ws = ws or Workspace.from_config()
    model = registered_model(ws, num_epochs)
    print("Model:", model.id)

    # This interpreter has all that the script needs: the environment is the user's own.
    environment = Environment("pytorch-birds-scoring")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable

    inference_config = InferenceConfig(entry_script="pytorch_score.py", source_directory=BIRDS, environment=environment)
    service = Model.deploy(
        ws, SERVICE, [model], inference_config, LocalWebservice.deploy_configuration(), overwrite=True
    )
    service.wait_for_deployment(show_output=True)
    print("State:", service.state)
    print("Address:", service.scoring_uri)

    drawn = "" if picture else new_picture()
    picture = picture or drawn
    with open(picture, "rb") as file:
        answer = service.run(file.read())
    print("%s: %s, probability %.4f" % (os.path.basename(picture), answer["label"], answer["probability"]))

    if is_kept:
        print("Ask it again: rookery predict %s %s" % (SERVICE, picture))
        print("Look at it:   %s" % Webservice(ws, SERVICE).portal_url)
    else:
        service.delete()
        print("Deleted")
        if drawn:
            shutil.rmtree(os.path.dirname(drawn))
    return answer


def registered_model(ws, num_epochs):
    try:
        return Model(ws, "pytorch-birds")
    except WebserviceException:
        sys.path.insert(0, HERE)
        import article

        return article.main(num_epochs, ws=ws)[1]


def new_picture():
    """A turkey that is in no data set."""
    import random

    sys.path.insert(0, BIRDS)
    from draw_birds import draw_bird

    path = os.path.join(tempfile.mkdtemp(prefix="rookery-bird-"), "turkey.jpg")
    draw_bird(random.Random("never seen"), 1).save(path, quality=88)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num_epochs", type=int, default=4, help="of the training, where there is no model yet")
    parser.add_argument("--picture", default="", help="a picture of yours")
    parser.add_argument("--keep", action="store_true", help="leave the service there")
    args = parser.parse_args()
    main(args.num_epochs, args.picture, args.keep)
