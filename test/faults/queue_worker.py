"""A worker in Python that knows of queues only what the contract says: it does what each line of its input tells it.

A line is a JSON object: {"do": "claim", "lease_ms": 1000}, {"do": "extend", ...}, {"do": "ack", ...}. It prints the answer as a line.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))

import redis
from perilune import Perilune

port, namespace, name = sys.argv[1:]
queue = Perilune(redis.Redis(port=int(port)), namespace=namespace).unit("queue", name)
channel = {"channel": f"{namespace}:{{queue:}}:wake", "sharded": False, "counted": True}
common = {"codec": "json", "caller": "", "call": "", **channel}


def claim(lease_ms):
    page = queue.ack_and_claim(**common, limit=1, lease_ms=lease_ms, worker="", acks=[])
    return [{**job, "payload": json.loads(job["payload"])} for job in page["jobs"]]


def extend(number, token, lease_ms):
    claims = [{"number": str(number), "token": token}]
    return queue.extend(codec="json", lease_ms=lease_ms, claims=claims)["refused"]


def ack(number, token):
    acks = [{"number": str(number), "token": token, "result": json.dumps("by python")}]
    return queue.ack_and_claim(**common, limit=0, lease_ms=0, worker="", acks=acks)["refused"]


for line in sys.stdin:
    order = json.loads(line)
    done = {"claim": claim, "extend": extend, "ack": ack}[order.pop("do")](**order)
    print(json.dumps(done), flush=True)
