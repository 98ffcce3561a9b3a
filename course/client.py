"""What a team needs: ten lines, to be given to students as they are."""

import json
from urllib.request import Request, urlopen


def call(url, key, body=None):
    """What the server answers; an HTTPError says what is wrong: `error.read()`."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}"}
    return json.load(urlopen(Request(url, data, headers), timeout=60))


def labels_of(server, key, number, most=2000):
    """A function for `decon.Oracle`: the labels of points, from the sealed model."""
    def predict(points):
        batches = [points[i:i + most].tolist() for i in range(0, len(points), most)]
        return [label for batch in batches
                for label in call(f"{server}/labels/{number}", key, {"points": batch})["labels"]]
    return predict
