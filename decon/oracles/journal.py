"""A journal: a model's answers in a file, so that no query is ever paid for twice."""

import os
import struct
from ast import literal_eval
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from .errors import OracleError

# the format of the file
MAGIC = b"decon journal 1\n"
HEADER = struct.Struct("<16sQ")  # MAGIC, the dimension
RECORD = struct.Struct("<cQ16s")  # the kind of record, a length, a digest of the points
CHECK = 4  # bytes of a checksum
ANSWERS, CLASSES, LABELS = b"A", b"C", b"L"  # kinds of records: of points, or of bytes of labels


class Journal:
    """A file of answers that is only ever appended to, and replayed from its beginning.

    After a header come records, one per call of the model: the number of points, a digest of
    them, a checksum of these, the labels as one bit each (of several classes: one byte), and a
    checksum of the record. Records
    are handed to the operating system as soon as the model has answered. A process that dies, even
    by kill -9, loses no more than the call in flight, whose record may be torn; the next record
    overwrites it. (Only a machine that loses its power can lose more. To be safe from that as
    well, every record would have to wait for the disk.)

    Parameters
    ----------
    path : path-like
        Made if it does not exist.
    dimension : int
        The number of features.

    Attributes
    ----------
    labels : tuple or None
        The model's two labels, the positive one first; None for one that has not been seen. Of
        several classes: those seen so far, in the order in which they were seen.
    records : list of tuples
        For every call its number of points, their digest, the answers as packed bits or bytes, and
        the kind of record.
    next : int
        The index of the record that is replayed next.

    Raises
    ------
    OracleError
        If the file is no journal, is of another dimension, is damaged before its end, or cannot be
        read or written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> X = np.eye(3)
    >>> with TemporaryDirectory() as folder:
    ...     Journal(folder + "/answers", 3).append(X, np.array([True, False, True]))
    ...     again = Journal(folder + "/answers", 3)
    ...     replayed = again.replay(X), again.replay(X)
    >>> replayed
    (array([ True, False,  True]), None)
    """

    def __init__(self, path: str | os.PathLike, dimension: int):
        self.path, self.next = Path(path), 0
        self.labels: tuple | None = None
        self.records: list[tuple[int, bytes, bytes, bytes]] = []

        # a new file gets a header, also one whose header was torn; another's is left alone
        header = HEADER.pack(MAGIC, dimension)
        try:
            data = self.path.read_bytes() if self.path.exists() else b""
            if len(data) < len(header) and header.startswith(data):
                data = header
                self.path.write_bytes(header)
        except OSError as error:
            raise OracleError(f"no journal can be kept in {self.path}: {error}") from error
        if not data.startswith(header):
            raise OracleError(f"{self.path} is no journal of answers to points of dimension "
                              f"{dimension}: give journal= another path")
        self.size, self.end = len(data), self._read(data)

    def two_labels(self) -> tuple | None:
        """The model's two labels, if they have been seen.

        Returns
        -------
        labels : tuple of two or None

        Raises
        ------
        OracleError
            If the journal is one of several classes.
        """
        if self.labels and len(self.labels) != 2:
            raise OracleError(f"{self.path} holds the answers of a ClassOracle: give journal= "
                              "another path")
        return self.labels

    def __repr__(self) -> str:
        return f"Journal('{self.path}', {self.next} of {len(self.records)} calls replayed)"

    def _read(self, data):
        """Read all records; the position behind the last good one."""
        position = HEADER.size
        while position + RECORD.size + CHECK <= len(data):
            # the head of a record, and where its body ends
            start = position + RECORD.size + CHECK
            kind, n, digest = RECORD.unpack_from(data, position)
            end = start + ((n + 7) // 8 if kind == ANSWERS else n)

            # a record that is cut off was torn; one that is wrong has been damaged
            whole = _is_checked(data[position:start])
            if whole and end + CHECK > len(data):
                break
            if not whole or not _is_checked(data[position:end + CHECK]):
                raise OracleError(f"{self.path} is damaged at byte {position}: give journal= "
                                  "another path, or a copy that is whole")

            # its body
            if kind == LABELS:
                self.labels = literal_eval(data[start:end].decode())
            else:
                self.records.append((n, digest, data[start:end], kind))
            position = end + CHECK
        return position

    def replay(self, X: np.ndarray) -> np.ndarray | None:
        """The answers to the points X, if they are the next in the journal; None at its end.

        Parameters
        ----------
        X : array (n, d)
            The points of one call.

        Returns
        -------
        positive : bool array (n,) or None

        Raises
        ------
        OracleError
            If the journal goes on with other points: it belongs to another run.
        """
        body = self.next_answers(X, ANSWERS)
        return None if body is None else np.unpackbits(body, count=len(X)).astype(bool)

    def next_answers(self, X: np.ndarray, kind: bytes) -> np.ndarray | None:
        """The bytes of the next record, if it is of a kind and about the points X; None at the end.

        Parameters
        ----------
        X : array (n, d)
            The points of one call.
        kind : bytes
            `ANSWERS`, of a model of two labels, or `CLASSES`.

        Returns
        -------
        answers : uint8 array or None
            Packed bits; of `CLASSES`, which of `labels` each point has.

        Raises
        ------
        OracleError
            If the journal goes on with other points: it belongs to another run.
        """
        if self.next == len(self.records):
            return None
        n, digest, body, made = self.records[self.next]
        if (n, digest, made) != (len(X), _digest(X), kind):
            raise OracleError(
                f"{self.path} belongs to another run: call {self.next + 1} of {len(self.records)} "
                "was about other points. Repeat that run exactly (the same features, "
                "random_state, noise and bounds, the same versions on the same kind of machine), "
                "or give journal= another path to start again")
        self.next += 1
        return np.frombuffer(body, np.uint8)

    def append(self, X: np.ndarray, positive: np.ndarray) -> None:
        """Write down the answers of one call.

        Parameters
        ----------
        X : array (n, d)
            Its points.
        positive : bool array (n,)
            Whether each has the positive label.

        Raises
        ------
        OracleError
            If the file cannot be written, or another process has written to it.
        """
        self._write(ANSWERS, len(X), _digest(X), np.packbits(positive).tobytes())

    def append_classes(self, X: np.ndarray, codes: np.ndarray) -> None:
        """Write down the classes that one call has shown.

        Parameters
        ----------
        X : array (n, d)
            Its points.
        codes : uint8 array (n,)
            Which of `labels` each point has.

        Raises
        ------
        OracleError
            As for `append`.
        """
        self._write(CLASSES, len(X), _digest(X), codes.tobytes())

    def keep_labels(self, labels: tuple) -> None:
        """Write down the model's labels, unless the journal holds them already.

        Parameters
        ----------
        labels : tuple
            Numbers, booleans or strings. Of two: the positive one first; None if it has not been
            seen.

        Raises
        ------
        OracleError
            If the labels are of another kind, or as for `append`.
        """
        if labels != self.labels:
            body = repr(labels).encode()
            try:
                literal_eval(body.decode())
            except (ValueError, SyntaxError):
                raise OracleError("a journal keeps labels that are numbers, booleans or strings, "
                                  f"not {' and '.join(map(repr, labels))}") from None
            self._write(LABELS, len(body), bytes(16), body)
            self.labels = labels

    def _write(self, kind, n, digest, body):
        """Append a record; a torn one at the end of the file is overwritten."""
        record = _with_check(_with_check(RECORD.pack(kind, n, digest)) + body)
        try:
            with open(self.path, "r+b", buffering=0) as file:  # unbuffered: it survives the process
                if file.seek(0, os.SEEK_END) != self.size:
                    raise OracleError(f"another process has written to {self.path} meanwhile: end "
                                      "one of the two, and start the other again")
                file.truncate(self.end)
                file.seek(self.end)
                file.write(record)
        except OSError as error:
            raise OracleError(f"the journal {self.path} cannot be written: {error}") from error
        self.size = self.end = self.end + len(record)


def _with_check(data):
    """Bytes, and a checksum of them."""
    return data + crc32(data).to_bytes(CHECK, "little")


def _is_checked(data):
    """Do the last bytes agree with the others?"""
    return data == _with_check(data[:-CHECK])


def _digest(X):
    """Sixteen bytes that tell one array of points from every other."""
    return blake2b(np.ascontiguousarray(X).tobytes(), digest_size=16).digest()
