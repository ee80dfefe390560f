"""Perilune for Python: the same Lua, loaded from contract.json.

The scripts do the work. This module builds keys, puts arguments in order, and names the parts of
answers, all by the contract; it knows no structure. Needs redis-py 4.3 or later.
"""

import hashlib
import heapq
import json
import os
import re
import secrets
import threading
import unicodedata
from contextlib import contextmanager
from pathlib import Path

from perilune_arguments import encode_arguments, number_text, utf_8
from redis import Redis
from redis.client import Pipeline
from redis.cluster import ClusterPipeline, RedisCluster
from redis.exceptions import NoScriptError

_CONTRACT = Path(__file__).resolve().parents[2] / "lua" / "contract.json"
_NAMESPACE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_CALL_ID = ("caller", "call")


class Perilune:
    """Runs the operations of a contract on a redis.Redis or redis.cluster.RedisCluster client.

    The client must not decode responses: bodies are bytes.
    """

    def __init__(self, client, namespace="perilune", contract=None):
        if not _NAMESPACE.fullmatch(namespace):
            raise ValueError("namespace must be 1 to 64 of A-Z a-z 0-9 _ . -")
        _check_client(client)
        if client.get_encoder().decode_responses:
            raise ValueError("the client must not decode responses")
        self.client = client
        self.namespace = namespace
        self.contract = contract or json.loads(_CONTRACT.read_text("utf-8"))
        self._call_ids = CallIds()

    def unit(self, structure, name, *, beside="", unit=""):
        """What shares one hash tag, such as one feed: perilune.unit("feed", "room:7").append(...).

        `beside` names a unit in the same slot: "dead" for the dead letters of a feed. `unit` tells which
        one, where a name has several: a subject of a rate limit, the number of a partition of a feed, from 0.
        """
        return Unit(self, structure, name, beside, unit)

    def preload(self):
        """Loads every script on every master."""
        for operation in self.contract["operations"].values():
            self.client.script_load(source_of(self.contract, operation).encode())


def source_of(contract, operation):
    """The text of a script, which the contract has in pieces: lines as they are, or which text, its first line, how many."""
    if "source" in operation:
        return operation["source"]
    lines = []
    for piece in operation["pieces"]:
        if isinstance(piece, str):
            lines.append(piece)
        else:
            text, first, count = piece
            lines += contract["texts"][text]["lines"][first : first + count]
    source = "\n".join(lines)
    if hashlib.sha1(source.encode()).hexdigest() != operation["sha1"]:
        raise ValueError("the pieces of a script are not the text that its sha1 names")
    return source


class CallIds:
    """Names calls, so that a script knows one that comes twice: redis-py sends calls again by itself, from 6 on."""

    def __init__(self):
        self._own = ProcessCalls()

    def taken(self):
        """The call id of one call, and its slot for as long as that takes."""
        # Asked each time, for Python does not learn of every fork: not of that of uWSGI.
        if self._own.pid != os.getpid():
            self._own = ProcessCalls()
        return self._own.taken()


class ProcessCalls:
    """The calls of one process. A slot is taken by one call at a time, and a late copy of a call is refused once another has taken
    its slot. A process that was forked has its own: numbers of its parent go on there, and a thread that is not here may hold the lock."""

    def __init__(self):
        self.pid = os.getpid()
        self._process = secrets.token_urlsafe(9)
        # The handler of a signal may call where a call of its thread is just being named.
        self._lock = threading.RLock()
        self._free, self._slots, self._last = [], 0, 0

    @contextmanager
    def taken(self):
        with self._lock:
            if not self._free:
                self._free, self._slots = [self._slots], self._slots + 1
            slot = heapq.heappop(self._free)
            self._last += 1
            call = self._last
        try:
            yield {"caller": f"{self._process}.{slot}", "call": str(call)}
        finally:
            with self._lock:
                heapq.heappush(self._free, slot)


class Unit:
    """The operations of one structure are its methods: their arguments and answers have the names
    that the contract gives them, but for hyphens, which are underscores. An argument that is left
    out is empty, 0 or False; `caller` and `call` are filled in."""

    def __init__(self, perilune, structure, name, beside="", unit=""):
        self.prefix = unit_prefix(perilune.namespace, structure, name, unit)
        self._perilune = perilune
        self._structure = structure
        self._beside = utf_8("beside", beside + "-").decode() if beside else ""

    def __getattr__(self, name):
        operation = self._perilune.contract["operations"].get(f"{self._structure}/{name.replace('_', '-')}")
        if operation is None:
            raise AttributeError(f"the contract has no {self._structure}/{name}")
        return lambda **arguments: self._run(operation, arguments)

    def _run(self, operation, arguments):
        """The answer as a dict with its word as "status". Raises redis.ResponseError as it comes."""
        takes_id = all(any(one["name"] == name for one in operation["arguments"]) for name in _CALL_ID)
        given = [name for name in _CALL_ID if name in arguments]
        if takes_id and len(given) == 1:
            raise TypeError(f"{given[0]} is half a call id: give caller and call, or neither")
        if not takes_id or given:
            return self._send(operation, arguments)
        with self._perilune._call_ids.taken() as call_id:
            return self._send(operation, {**arguments, **call_id})

    def _send(self, operation, arguments):
        keys = [f"{self.prefix}:{self._beside}{key['part']}" for key in operation["keys"]]
        client = self._perilune.client
        if len(keys) > 1 and not operation["reads"] and isinstance(client, RedisCluster):
            # Never there, so that the call waits until its slot has moved (lua/README.md).
            keys.append(f"{self.prefix}:never")
        # As bytes, whatever encoding the client has.
        rest = [*(key.encode() for key in keys), *encode_arguments(operation["arguments"], arguments)]
        try:
            reply = client.evalsha(operation["sha1"], len(keys), *rest)
        except NoScriptError:
            reply = client.eval(source_of(self._perilune.contract, operation).encode(), len(keys), *rest)
        return decode_answer(operation["answers"], reply)


def _check_client(client):
    wanted = "client must be a redis.Redis or a redis.cluster.RedisCluster"
    if isinstance(client, (Pipeline, ClusterPipeline)):
        raise TypeError(f"{wanted}: a pipeline answers later")
    if not isinstance(client, (Redis, RedisCluster)):
        kind = type(client)
        hint = ": this module has no calls for asyncio" if "asyncio" in kind.__module__ else ""
        raise TypeError(f"{wanted}, not {kind.__module__}.{kind.__qualname__}{hint}")


def unit_prefix(namespace, structure, name, unit=""):
    """What every key of the unit begins with: shop:{feed:room%3A7}, or shop:{feed:room%3A7:12}."""
    if isinstance(unit, bool) or not isinstance(unit, (str, int)):
        raise TypeError(f"unit must be text or a whole number, not {unit!r}")
    own = number_text("unit", unit) if isinstance(unit, int) else unit
    tag = _encode_name("name", name) + (f":{_encode_name('unit', own)}" if own != "" else "")
    return f"{namespace}:{{{structure}:{tag}}}"


def _encode_name(argument, name):
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be text, not {name!r}")
    if not 1 <= len(utf_8(argument, name)) <= 512 or _CONTROL.search(name):
        raise ValueError(f"{argument} must be 1 to 512 bytes of UTF-8 without control characters")
    return re.sub("[%{}:]", lambda match: f"%{ord(match.group()):02X}", name)


MARK = "\x01"
MOST_WORDS = 8


def fold(text):
    """What of a text counts in autocomplete: `query` of suggest."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(char for char in decomposed if not unicodedata.category(char).startswith("M"))
    return " ".join(bare.lower().replace("ς", "σ").split())


def mark_words(folded):
    """A folded text with U+0001 before each word start but the first: `marked` of add."""
    words, marked, inside = 1, [], True
    for at, char in enumerate(folded):
        was_inside, inside = inside, unicodedata.category(char)[0] in "LN"
        if inside and not was_inside and at > 0 and words < MOST_WORDS:
            words += 1
            marked.append(MARK)
        marked.append(char)
    return "".join(marked)


def decode_answer(answers, reply):
    """{"status": word, name: value, ...}; a list holds a dict a record, or the value of the only field."""
    status = reply[0].decode()
    if status not in answers:
        raise ValueError(f"the contract has no answer {status}")
    values = {field["name"]: _decode(field, part) for field, part in zip(answers[status], reply[1:])}
    return {"status": status, **values}


def _decode(field, part):
    kind = field["type"]
    if part is None:
        return None
    if kind == "list":
        return _decode_records(field["fields"], part)
    if kind == "flag":
        return part == 1
    if kind == "bytes" or kind == "integer":
        return part
    text = part.decode("utf-8")
    return {"number": float, "big": int}.get(kind, str)(text)


def _decode_records(fields, flat):
    if len(fields) == 1:
        return [_decode(fields[0], part) for part in flat]
    groups = zip(*[iter(flat)] * len(fields))
    return [{field["name"]: _decode(field, part) for field, part in zip(fields, group)} for group in groups]
