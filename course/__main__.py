"""Problem sets and sealed models for a course.

    python -m course grade NUMBER FOLDER      grade the notebooks of a problem set
    python -m course keys FILE TEAM...        make a key for every team
    python -m course serve FILE               serve the models, to this machine only
    python -m course report FILE              what the models are, and what the teams say

FOLDER has one notebook for each team. FILE is the lecturer's: it has the secret seed of the models
and all keys. Beside it, FILE.db keeps what the teams have spent and answered.
"""

import argparse
import asyncio

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from . import grade as grading
from .keys import make_keys, read_keys
from .ledger import Ledger
from .models import sealed
from .problem_sets import masters
from .server import MOST_BYTES, Seals, application


def serve(arguments):
    """Listen until interrupted."""
    known = read_keys(arguments.file)
    ledger = Ledger(f"{arguments.file}.db")

    async def listen():
        seals = Seals(sealed(known["seed"]), known["teams"], ledger, known["seed"])
        sockets = bind_sockets(arguments.port, arguments.address)
        HTTPServer(application(seals), max_body_size=MOST_BYTES).add_sockets(sockets)
        print(f"listening on http://{arguments.address}:{sockets[0].getsockname()[1]}", flush=True)
        await asyncio.Event().wait()

    try:
        asyncio.run(listen())
    except KeyboardInterrupt:
        ledger.close()


def keys(arguments):
    """Make keys and print them all."""
    for team, key in make_keys(arguments.file, arguments.team).items():
        print(f"{team}\t{key}")


def report(arguments):
    """The truth, and beside it what the teams have found."""
    known, ledger = read_keys(arguments.file), Ledger(f"{arguments.file}.db")
    board = ledger.board()
    for number, model in sealed(known["seed"]).items():
        print(f"{number:2} {'*' * model.stars:6}{model.truth} (d = {model.dimension}, "
              f"budget {model.budget:,})")
        for row in board:
            if row.model == number:
                print(f"       {row.team}: agreement {row.agreement:.4f} after {row.queries:,} "
                      f"queries: {row.claim}")


def grade(arguments):
    """Grade a folder of notebooks."""
    grading.main(arguments.number, arguments.folder)


def main():
    parser = argparse.ArgumentParser(prog="python -m course", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for what, says in (keys, "make keys"), (serve, "serve the models"), (report, "show the truth"):
        command = commands.add_parser(what.__name__, help=says)
        command.set_defaults(what=what)
        command.add_argument("file")
        if what is keys:
            command.add_argument("team", nargs="+")
        if what is serve:
            command.add_argument("--port", type=int, default=8800)
            command.add_argument("--address", default="127.0.0.1",
                                 help="0.0.0.0 for other machines (default: this one only)")
    command = commands.add_parser("grade", help="grade notebooks")
    command.set_defaults(what=grade)
    command.add_argument("number", type=int, choices=sorted(masters()), metavar="number",
                         help="of the problem set")
    command.add_argument("folder")
    arguments = parser.parse_args()
    arguments.what(arguments)


if __name__ == "__main__":
    main()
