"""Plays the conformance vectors (test/conformance/README.md) through perilune.py.

    /usr/bin/python3 bindings/python/play_vectors.py redis://127.0.0.1:6379
    /usr/bin/python3 bindings/python/play_vectors.py --cluster redis://127.0.0.1:7000

Prints what failed and the totals; exits with 1 if anything did.
"""

import base64
import copy
import hashlib
import json
import logging
import re
import sys
import uuid
from pathlib import Path

import redis
from redis.cluster import RedisCluster

import perilune

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "test/conformance"
START_US = 1_800_000_000_000_000
VARIABLE = re.compile(r"\$([a-z_0-9]+)")
SUM = re.compile(r"\$([a-z_0-9]+)([+-]\d+)?")
INSERT = re.compile(r"\$\{([a-z_0-9]+)([+-]\d+)?\}")


class Mismatch(Exception):
    pass


def on_test_clock(contract, clock):
    """The contract with the test clock in every script."""
    swapped = copy.deepcopy(contract)
    for operation in swapped["operations"].values():
        operation["source"] = perilune.source_of(contract, operation).replace(contract["clock"], clock)
        operation["sha1"] = hashlib.sha1(operation["source"].encode()).hexdigest()
    return swapped


class Bindings(dict):
    """The variables of one vector, and the patterns that use them."""

    def fill(self, value):
        if isinstance(value, dict):
            return {name: self.fill(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.fill(part) for part in value]
        if not isinstance(value, str):
            return value
        whole = SUM.fullmatch(value)
        if whole:
            return self._sum(whole)
        return INSERT.sub(lambda match: str(self._sum(match)), value)

    def _sum(self, match):
        value = self[match.group(1)]
        return value if match.group(2) is None else int(value) + int(match.group(2))

    def check(self, pattern, value, path="answer"):
        if isinstance(pattern, list) and isinstance(value, list):
            if len(pattern) != len(value):
                raise Mismatch(f"{path} has {len(value)} parts, expected {len(pattern)}: {value}")
            for at, (inner, part) in enumerate(zip(pattern, value)):
                self.check(inner, part, f"{path}[{at}]")
        elif not self._fits(pattern, value):
            raise Mismatch(f"{path} is {value!r}, expected {self.fill(pattern)!r} ({pattern!r})")

    def _fits(self, pattern, value):
        if pattern == "*":
            return True
        if isinstance(pattern, str):
            variable = VARIABLE.fullmatch(pattern)
            if variable and variable.group(1) not in self:
                self[variable.group(1)] = value
                return True
            if pattern.startswith(">"):
                return int(value) > int(self.fill(pattern[1:]))
        filled = self.fill(pattern)
        return type(filled) is type(value) and filled == value


class Play:
    """One vector under way, on keys of its own."""

    def __init__(self, client, contract, file):
        self.client = client
        self.library = perilune.Perilune(client, "conformance", contract)
        self.file = file
        self.id = str(uuid.uuid4())
        self.prefixes = {}
        self.us = START_US
        self.bindings = Bindings(us=self.us, t=self.us // 1000)
        operations = contract["operations"].values()
        own = [one for one in operations if one["structure"] == file["structure"]]
        self.parts = sorted({key["part"] for one in own for key in one["keys"]})

    def step(self, step):
        unit = self.unit(step)
        if "advance_ms" in step:
            self.set_clock(self.us + round(step["advance_ms"] * 1000))
        elif "script_flush" in step:
            self.client.script_flush()
        elif "keys_left" in step:
            left = [part for part in self.parts if self.client.exists(f"{unit.prefix}:{part}")]
            self.bindings.check(step["keys_left"], left, "keys_left")
        elif "redis" in step:
            self.judge(step, lambda: to_value(self.command(step["redis"], unit.prefix)))
        else:
            # What a vector does not name is no call that is remembered.
            arguments = {**self.no_call_id(step["call"]), **to_arguments(self.bindings.fill(self.arguments(step)))}
            run = getattr(unit, step["call"].split("/")[1])
            self.judge(step, lambda: to_value(list(run(**arguments).values())))

    def judge(self, step, run):
        try:
            value = run()
        except redis.ResponseError as error:
            if "error" not in step or not str(error).startswith(step["error"]):
                raise Mismatch(f"the server answered {error}") from error
            return
        if "error" in step:
            raise Mismatch(f"expected an error, got {value}")
        if "answer" in step:
            self.bindings.check(step["answer"], value)

    def unit(self, step):
        name = step.get("unit", "")
        unit = self.library.unit(self.file["structure"], f"{self.id} {name}", beside=step.get("beside", ""))
        if name not in self.prefixes:
            self.prefixes[name] = unit.prefix
            self.set_clock(self.us)
        return unit

    def arguments(self, step):
        """Those of the step, and the file's defaults for the others."""
        given = dict(step.get("with", {}))
        for name, standard in self.file["defaults"].get(step["call"], {}).items():
            if isinstance(standard, dict):
                given[name] = [{**standard, **group} for group in given.get(name, [])]
            else:
                given.setdefault(name, standard)
        return given

    def no_call_id(self, name):
        declared = self.library.contract["operations"][name]["arguments"]
        return {one["name"]: "" for one in declared if one["name"] in ("caller", "call")}

    def command(self, words, prefix):
        """One Redis command, inside a script: there no client changes the reply."""
        keys = [f"{prefix}:{word['key']}" for word in words if is_key(word)]
        sent = [f"{prefix}:{word['key']}" if is_key(word) else self.bindings.fill(word) for word in words]
        return self.client.eval("return redis.call(unpack(ARGV))", len(keys), *keys, *sent)

    def set_clock(self, us):
        self.us = us
        self.bindings.update(us=us, t=us // 1000)
        for prefix in self.prefixes.values():
            self.client.set(f"{prefix}:clock", us)

    def clean_up(self):
        for prefix in self.prefixes.values():
            self.client.unlink(*[f"{prefix}:{part}" for part in [*self.parts, "clock"]])


def is_key(word):
    return isinstance(word, dict) and "key" in word


def to_arguments(value):
    """{"base64": ...} as bytes, at any depth."""
    if isinstance(value, list):
        return [to_arguments(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "base64" in value:
        return base64.b64decode(value["base64"])
    return {name: to_arguments(part) for name, part in value.items()}


def to_value(part):
    """An answer as a vector writes it: records as lists, bytes as text where they are UTF-8."""
    if isinstance(part, dict):
        return to_value(list(part.values()))
    if isinstance(part, (list, tuple)):
        return [to_value(inner) for inner in part]
    if not isinstance(part, bytes):
        return part
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(part).decode()}


def play(client, contract, file, vector):
    """None, or in words what differs."""
    run = Play(client, contract, file)
    try:
        for number, step in enumerate(vector["steps"], 1):
            try:
                run.step(step)
            except Mismatch as mismatch:
                return f"step {number}, {json.dumps(step, ensure_ascii=False)}: {mismatch}"
        return None
    finally:
        run.clean_up()


def check_name(file, each):
    """None, or in words what differs."""
    prefix = perilune.unit_prefix(file["namespace"], file["structure"], each["name"])
    return None if prefix == each["prefix"] else f"its keys begin with {prefix}, expected {each['prefix']}"


def check_folding(each):
    """None, or in words what differs."""
    folded = perilune.fold(each["text"])
    words = perilune.mark_words(folded).split(perilune.MARK)
    same = folded == each["folded"] and words == each["words"]
    return None if same else f"it folds to {folded!r}, words {words}"


def read_vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text("utf-8"), object_hook=spelled)


def spelled(value):
    """{"repeat": "x", "times": 3} as a text."""
    return value["repeat"] * value["times"] if "repeat" in value and "times" in value else value


def structures():
    """The folders of lua/ but the shared one; each has its vectors."""
    return sorted(path.name for path in (ROOT / "lua").iterdir() if path.is_dir() and path.name != "shared")


def play_all(client):
    """Yields what each vector and each name is about, and what differs or None."""
    contract = json.loads((ROOT / "lua/contract.json").read_text("utf-8"))
    tested = on_test_clock(contract, (VECTORS / "clock.lua").read_text("utf-8").rstrip("\n"))
    for structure in structures():
        file = read_vectors(structure)
        for vector in file["vectors"]:
            yield f"{structure}: {vector['it']}", play(client, tested, file, vector)
    names = read_vectors("names")
    for each in names["names"]:
        yield f"name: {each['name']}", check_name(names, each)
    for each in read_vectors("folding")["texts"]:
        yield f"folding: {each['text']}", check_folding(each)


def main(arguments):
    # The cluster client logs every error reply, also those that a vector asks for.
    logging.getLogger("redis.cluster").setLevel(logging.CRITICAL)
    connect = RedisCluster.from_url if arguments[0] == "--cluster" else redis.Redis.from_url
    played = list(play_all(connect(arguments[-1])))
    failures = [f"{title}: {difference}" for title, difference in played if difference]
    print(*failures, f"{len(played) - len(failures)} passed, {len(failures)} failed", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
