"""What no vector says: how the module refuses what it cannot work with, and names units.

    check_binding.py redis://127.0.0.1:6379
"""

import asyncio
import ctypes
import os
import signal
import sys
import threading
import unittest

import redis
import redis.asyncio
from perilune import Perilune, unit_prefix

URL = sys.argv.pop() if len(sys.argv) > 1 else "redis://127.0.0.1:6379"


class Clients(unittest.TestCase):
    def setUp(self):
        self.client = redis.Redis.from_url(URL)
        self.addCleanup(self.client.close)

    def refused(self, client):
        with self.assertRaises(TypeError) as raised:
            Perilune(client)
        return str(raised.exception)

    def test_a_pipeline_is_refused(self):
        self.assertRegex(self.refused(self.client.pipeline()), "^client must be .*: a pipeline answers later$")

    def test_a_client_of_asyncio_is_refused(self):
        client = redis.asyncio.Redis.from_url(URL)
        self.assertRegex(self.refused(client), "^client must be .*, not redis.asyncio.*: .* asyncio")
        asyncio.run(client.close())

    def test_what_is_no_client_is_refused(self):
        for other in (None, URL, object(), redis.ConnectionPool.from_url(URL)):
            self.assertRegex(self.refused(other), "^client must be a redis.Redis or a redis.cluster.RedisCluster, not ")

    def test_a_client_that_decodes_is_refused(self):
        with self.assertRaisesRegex(ValueError, "must not decode"):
            Perilune(redis.Redis.from_url(URL, decode_responses=True))

    def test_a_kind_of_client_is_taken(self):
        class Own(redis.Redis):
            pass

        self.assertIsInstance(Perilune(Own.from_url(URL)), Perilune)


class Numbers(unittest.TestCase):
    def setUp(self):
        self.client = redis.Redis.from_url(URL)
        self.addCleanup(self.client.close)
        self.load = Perilune(self.client, namespace="python-numbers").unit("cache", "users", unit="42")
        self.addCleanup(self.client.delete, f"{self.load.prefix}:load")

    def test_what_is_no_whole_number_is_refused_before_anything_is_sent(self):
        for lease in (1000.5, "1000.5", "soon", b"1000", None):
            with self.assertRaisesRegex(TypeError, "^lease_ms must be a whole number"):
                self.load.elect(id="one", codec="json", lease_ms=lease)
        with self.assertRaisesRegex(TypeError, "^lease_ms must be a whole number"):
            self.load.extend(leases=[{"token": 1, "lease_ms": 0.5}])
        self.assertEqual(self.client.keys(f"{self.load.prefix}:*"), [])

    def test_a_whole_number_may_be_a_float_or_text(self):
        for lease in (1.5 * 1000, "1500"):
            self.assertEqual(self.load.elect(id="one", codec="json", lease_ms=lease)["status"], "elected")


HALF = "half of \ud83d"
NUMBERS = (float("nan"), float("inf"), -float("inf"))


class Sent(unittest.TestCase):
    """What UTF-8, or a number of Lua and of JavaScript, cannot hold."""

    def setUp(self):
        # A client that makes something of everything.
        self.client = redis.Redis.from_url(URL, encoding_errors="replace")
        self.addCleanup(self.client.close)
        self.library = Perilune(self.client, namespace="python-sent")
        self.room = self.library.unit("feed", "room")
        self.addCleanup(self.room.clear)

    def refused(self, name, call):
        with self.assertRaisesRegex(ValueError, f"^{name} must ") as raised:
            call()
        self.assertIs(type(raised.exception), ValueError)
        self.assertEqual(self.client.keys("python-sent:*"), [])

    def append(self, body, codec="json", **more):
        return lambda: self.room.append(codec=codec, messages=[{"body": body, **more}])

    def test_a_text_that_is_no_utf_8_is_refused(self):
        for text in (HALF, b"half \xff"):
            self.refused("codec", self.append("1", codec=text))
            self.refused("key", self.append("1", key=text))
        for codec in ("json", "text", "bytes"):
            self.refused("body", self.append(HALF, codec=codec))
        self.refused("name", lambda: self.library.unit("feed", HALF))
        self.refused("unit", lambda: self.library.unit("feed", "room", unit=HALF))
        self.refused("beside", lambda: self.library.unit("feed", "room", beside=HALF))

    def test_a_call_without_the_codec_it_takes_is_refused(self):
        self.refused("codec", lambda: self.room.append(messages=[{"body": "1"}]))
        self.refused("codec", self.room.inspect)

    def test_a_number_that_is_none_is_refused(self):
        for number in NUMBERS:
            self.refused("delay_ms", self.append("1", delay_ms=number))
            self.refused("key", self.append("1", key=number))
            self.refused("body", self.append(number))
            self.refused("include_claimed", lambda: self.room.read(codec="json", limit=1, include_claimed=number))

    def test_a_whole_number_that_is_too_large_is_refused(self):
        for number in (2**53, -(2**53), 10**5000, float(2**53), str(2**53), "9" * 5000):
            self.refused("delay_ms", self.append("1", delay_ms=number))
        self.refused("key", self.append("1", key=10**5000))
        self.refused("unit", lambda: self.library.unit("feed", "room", unit=10**5000))
        self.refused("include_claimed", lambda: self.room.read(codec="json", limit=1, include_claimed=2))

    def test_a_number_in_json_that_a_reader_would_change_is_refused(self):
        for number in ("NaN", "-Infinity", str(2**53), "-" + 5000 * "9", "1e999", "-1e+400"):
            for body in (number, f'{{"a": [1, {number}]}}', f'["NaN", {number}]'.encode()):
                self.refused("body", self.append(body))

    def test_what_is_no_number_in_json_is_taken_and_a_large_one_elsewhere(self):
        bodies = ('"NaN"', '{"Infinity": "9007199254740993"}', str(2**53 - 1), "1e300", "9007199254740993.5", "9007199254740993 rows", "NaN, no JSON")
        for body in (*bodies, '["\\ud83d"]'):
            self.append(body)()
        page = self.room.read(codec="json", limit=100, include_claimed=True)
        self.assertEqual([message["body"].decode() for message in page["messages"]][: len(bodies)], list(bodies))
        self.room.clear()
        self.append("NaN", codec="text", key=2**63)()
        jobs = self.library.unit("queue", "jobs")
        self.addCleanup(jobs.clear)
        line = {"number": "0", "what": "log", "value": "9007199254740993"}
        self.assertEqual(jobs.note(codec="json", notes=[line])["status"], "noted")

    def test_a_value_that_a_codec_makes_is_looked_at_where_it_stands_alone(self):
        lock = self.library.unit("lock", "deploy")
        self.refused("value", lambda: lock.fenced_set(codec="json", value="[NaN]"))

    def test_a_text_is_sent_as_utf_8_whatever_the_client_has(self):
        for encoding in ("latin-1", "utf-16"):
            client = redis.Redis.from_url(URL, encoding=encoding)
            self.addCleanup(client.close)
            cafe = Perilune(client, namespace="python-sent").unit("feed", "caf\u00e9")
            own = self.library.unit("feed", "caf\u00e9")
            self.addCleanup(own.clear)
            self.assertEqual(cafe.append(codec="json", messages=[{"body": '"\u2603"'}])["status"], "appended")
            page = own.read(codec="json", limit=9, include_claimed=True)
            self.assertEqual(page["messages"][0]["body"].decode(), '"\u2603"')
            own.clear()

    def test_what_is_neither_text_nor_a_number_is_refused(self):
        for value in (None, True, [], {}):
            with self.assertRaisesRegex(TypeError, "^body must be text, bytes or a number"):
                self.append(value)()


class Twice(redis.Redis):
    """Sends each call again, as redis-py does from 6 on where an answer was lost."""

    def evalsha(self, *arguments):
        super().evalsha(*arguments)
        return super().evalsha(*arguments)


class CallIds(unittest.TestCase):
    def setUp(self):
        self.client = Twice.from_url(URL)
        self.addCleanup(self.client.close)
        self.library = Perilune(self.client, namespace="python-calls")
        self.room = self.library.unit("feed", "room")
        self.room.clear()
        self.addCleanup(self.room.clear)

    def bodies(self):
        page = self.room.read(codec="json", limit=100, include_claimed=True)
        return sorted(int(message["body"]) for message in page["messages"])

    def append(self, number, **arguments):
        return self.room.append(codec="json", messages=[{"body": str(number)}], **arguments)

    def test_a_call_that_the_client_sends_twice_is_one(self):
        self.append(1)
        self.append(2)
        self.assertEqual(self.bodies(), [1, 2])

    def test_calls_of_several_threads_are_several(self):
        threads = [threading.Thread(target=self.append, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.bodies(), list(range(20)))

    def append_in_child(self, fork, number):
        child = fork()
        if child == 0:
            signal.alarm(10)
            self.client.connection_pool.reset()
            self.append(number)
            os._exit(0)
        return child

    def test_a_process_that_was_forked_names_its_calls_otherwise(self):
        # The second way is that of uWSGI, which does not tell Python.
        for number, fork in enumerate((os.fork, ctypes.PyDLL(None).fork)):
            self.append(3 * number)
            child = self.append_in_child(fork, 3 * number + 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.append(3 * number + 2)
        self.assertEqual(self.bodies(), list(range(6)))

    def test_a_process_that_was_forked_waits_for_no_thread_of_its_parent(self):
        with self.library._call_ids._own._lock:
            child = self.append_in_child(os.fork, 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.bodies(), [1])

    def test_a_call_of_the_handler_of_a_signal_waits_for_none_that_it_interrupts(self):
        signal.alarm(10)
        with self.library._call_ids._own._lock:
            self.append(1)
        signal.alarm(0)
        self.assertEqual(self.bodies(), [1])

    def test_a_call_id_that_is_given_counts(self):
        answers = [self.append(number, caller="mine.0", call="7") for number in (1, 2)]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(self.bodies(), [1])

    def test_half_a_call_id_is_refused(self):
        for half in ({"caller": "mine.0"}, {"call": "7"}):
            with self.assertRaisesRegex(TypeError, "half a call id"):
                self.append(1, **half)
        self.assertEqual(self.bodies(), [])


class Units(unittest.TestCase):
    def test_what_stands_beside_and_which_unit_have_to_be_said_by_name(self):
        with self.assertRaises(TypeError):
            Perilune(redis.Redis.from_url(URL)).unit("counters", "votes", "0")

    def test_a_unit_may_be_a_number_and_zero_is_one(self):
        self.assertEqual(unit_prefix("shop", "feed", "room", 0), "shop:{feed:room:0}")
        self.assertEqual(unit_prefix("shop", "feed", "room", "0"), "shop:{feed:room:0}")
        self.assertEqual(unit_prefix("shop", "feed", "room", 12), "shop:{feed:room:12}")
        self.assertEqual(unit_prefix("shop", "feed", "room"), "shop:{feed:room}")
        self.assertEqual(unit_prefix("shop", "feed", "room", ""), "shop:{feed:room}")

    def test_what_is_neither_text_nor_a_whole_number_is_refused(self):
        for unit in (False, True, 1.0, b"1", None, []):
            with self.assertRaisesRegex(TypeError, "^unit must be text or a whole number"):
                unit_prefix("shop", "feed", "room", unit)
        for name in (0, None, b"room"):
            with self.assertRaisesRegex(TypeError, "^name must be text"):
                unit_prefix("shop", "feed", name)

    def test_partition_zero_is_not_the_feed_without_partitions(self):
        client = redis.Redis.from_url(URL)
        self.addCleanup(client.close)
        library = Perilune(client, namespace="python-units")
        first, alone = library.unit("feed", "spread", unit=0), library.unit("feed", "spread")
        for unit in (first, alone):
            self.addCleanup(lambda unit=unit: client.delete(f"{unit.prefix}:meta", f"{unit.prefix}:log"))
        one = {"codec": "json", "messages": [{"body": "1"}]}
        self.assertEqual(first.append(partitions=4, **one), {"status": "unagreed"})
        proof = first.propose(partitions=4)["proof"]
        self.assertEqual(alone.agree(partitions=4, begin=True)["status"], "agreed")
        self.assertEqual(first.append(partitions=4, proof=proof, **one)["status"], "appended")
        with self.assertRaisesRegex(redis.ResponseError, "in 4 partitions"):
            alone.append(**one)


if __name__ == "__main__":
    unittest.main()
