// Mends of faults that were found (docs/proof/reviews.md), each with a change that takes it back: the part of the net
// that notices without the mend's own test is on docs/proof/reverted-mends.md.

export interface Mend {
  /** What was wrong. */
  readonly fault: string
  readonly file: string
  /** Stands once in the file. */
  readonly now: string
  readonly before: string
  /** The files of its own tests, which are left out. */
  readonly own: readonly string[]
}

export const MENDS: readonly Mend[] = [
  {
    fault: 'a lease that was extended to a longer one is not extended by itself any more',
    file: 'src/runtime/leases/kept-lease.ts',
    now: "    if (this.#state === 'doubted') this.#resolveDoubt()\n    this.replan()\n",
    before: "    if (this.#state === 'doubted') this.#resolveDoubt()\n",
    own: ['src/runtime/leases/kept-lease.test.ts', 'test/faults/lease-states.test.ts'],
  },
  {
    fault: 'an attempt without a waiter is abandoned once, and not again where that is lost',
    file: 'src/runtime/subscriptions/abandoned.ts',
    now: "if (isKept) this.#unsaid.add(ended, ended.word.node ?? '', !ended.wasRefused)",
    before: '',
    own: ['test/faults/unheard.test.ts', 'test/faults/after-outages.test.ts'],
  },
  {
    fault: 'a late copy of a question is granted without an owner for its whole lease',
    file: 'src/runtime/subscriptions/abandoned.ts',
    now: 'const AGAIN_AFTER_MS = [1000, 3000, 10_000, 30_000, 60_000]',
    before: 'const AGAIN_AFTER_MS: readonly number[] = []',
    own: ['test/faults/no-publish-right.test.ts'],
  },
  {
    fault: 'what PUBLISH counts tells who is gone: a lock has two holders after a failover',
    file: 'lua/shared/messages.lua',
    now: '  if listens_here(ticket, how) == false then\n    return false\n  end\n  publish_to(ticket, message, how)\n  return true',
    before:
      "  local channel = how.channel .. ':' .. process_of(ticket)\n  return redis.call(how.sharded and 'SPUBLISH' or 'PUBLISH', channel, message) > 0 or not how.counted",
    own: ['test/models/hand-over.test.ts', 'test/faults/planned-failovers.test.ts'],
  },
  {
    fault: 'a lock that is handed over is granted for its whole lease to a process that does not listen',
    file: 'lua/shared/line.lua',
    now: '  if heard and has_just_asked(unit, ticket) then\n    return ticket.lease_ms\n  end\n',
    before: '  if true then\n    return ticket.lease_ms\n  end\n',
    own: ['test/models/hand-over.test.ts', 'test/faults/hand-over.test.ts'],
  },
  {
    fault: 'who confirms a lock that was offered holds it for the time of the offer only',
    file: 'lua/lock/acquire.lua',
    now: '  if confirms then\n    lock.expires_at_ms',
    before: '  if false then\n    lock.expires_at_ms',
    own: ['test/models/hand-over.test.ts', 'test/faults/hand-over.test.ts'],
  },
  {
    fault: 'a closing instance goes round and round in what adds itself again',
    file: 'src/runtime/time/deadlines.ts',
    now: '    this.#endAll([...this.#open], reason)',
    before: '    for (const due of this.#open) if (this.#open.delete(due)) due.giveUp(reason)',
    own: ['test/faults/closing.test.ts'],
  },
  {
    fault: 'an ack that is refused at once is sent again without a pause',
    file: 'src/queue/worker/lane.ts',
    now: 'startTimer(() => this.#resume(), this.#retries.after(error))',
    before: 'startTimer(() => this.#resume(), 0)',
    own: ['src/queue/worker/refused-acks.test.ts'],
  },
  {
    fault: 'what may have happened is not tried again while there is time',
    file: 'src/queue/worker/lane.ts',
    now: '      if (each.job.endsAt > now && !isOver) this.#acks.push(each)\n      else each.job.noteAckEnded(error)',
    before: '      each.job.noteAckEnded(error)',
    own: ['test/faults/queue-outages.test.ts'],
  },
  {
    fault: 'a reader that follows for ever ends with an outage',
    file: 'src/runtime/calls/through-outages.ts',
    now: 'if (signal?.aborted || !isOutage(error)) throw error',
    before: 'throw error',
    own: ['test/faults/for-ever.test.ts'],
  },
  {
    fault: 'retention stops once a feed holds 4 MiB',
    file: 'lua/shared/feed/retention.lua',
    now: '  local is_too_much = surplus.bytes > 0 or surplus.count > 0\n',
    before:
      '  local is_too_much = surplus.bytes > 0 or surplus.count > 0\n  if feed.bytes > 4194304 then\n    return\n  end\n',
    own: ['test/models/feed-memory.test.ts'],
  },
  {
    fault: 'expiry stops once a feed holds 4 MiB',
    file: 'lua/shared/feed/reap.lua',
    now: 'local function reap_expired(keys, feed, most)\n',
    before:
      'local function reap_expired(keys, feed, most)\n  if feed.bytes > 4194304 then\n    return\n  end\n',
    own: ['test/models/feed-memory.test.ts'],
  },
  {
    fault: 'calls are bounded in elements, and not in bytes',
    file: 'lua/shared/budget.lua',
    now: '  budget.bytes = budget.bytes - bytes\n',
    before: '',
    own: ['test/models/budget.test.ts', 'test/models/feed-bytes.test.ts'],
  },
  {
    fault: 'keys that are over go by four a call, whatever the call brings',
    file: 'lua/shared/expiry.lua',
    now: '    left = left - math.abs(count)\n',
    before: '    left = 0\n',
    own: ['test/models/keys-that-are-over.test.ts'],
  },
  {
    fault: 'remembered calls of callers that live for one call stay',
    file: 'lua/shared/calls.lua',
    now: "  local is_one_more = type(held) == 'number' and held > 16\n",
    before: '  local is_one_more = false\n',
    own: ['test/models/short-lived-callers.test.ts'],
  },
  {
    fault: 'a call that is repeated is carried out twice',
    file: 'lua/shared/calls.lua',
    now: '  if number == call_id.call then\n',
    before: '  if false then\n',
    own: ['test/faults/lost-replies.test.ts'],
  },
  {
    fault: 'a late copy of a call is carried out behind a later one of its slot',
    file: 'lua/shared/calls.lua',
    now: '  elseif tonumber(number) > tonumber(call_id.call) then\n',
    before: '  elseif false then\n',
    own: [],
  },
  {
    fault: 'no limit holds after the clock of the server stepped back',
    file: 'lua/shared/rate-limit/subject.lua',
    now: "    return struct.unpack('>ddd', stored)\n",
    before: "    local newest = struct.unpack('>d', stored)\n    return newest, newest, 0\n",
    own: ['test/models/clock-steps.test.ts'],
  },
  {
    fault: 'tokens do not rise while the clock is behind',
    file: 'lua/shared/tokens.lua',
    now: '  return math.max(last + 1, now_us)\n',
    before: '  return now_us\n',
    own: ['test/models/clock-steps.test.ts'],
  },
  {
    fault: 'rates and recurrence stand still while the clock is behind',
    file: 'lua/shared/queue/plain.lua',
    now: '  return math.max(queue.last, queue.token) > (queue.now_ms + STEP_MS) * 1000\n',
    before: '  return false\n',
    own: ['test/models/clock-steps.test.ts'],
  },
  {
    fault: 'a job of a dead worker waits for one who watches the time and died as well',
    file: 'lua/shared/queue/idle.lua',
    now: '  if queue.idle > 0 and not has_second(idle, queue, process, by_ms) then\n',
    before: '  if false then\n',
    own: ['test/models/queue-watching.test.ts', 'test/faults/queue-takeover.test.ts'],
  },
  {
    fault: 'a message that cannot be decoded fails the page it is on',
    file: 'src/feed/message.ts',
    now: '    const { body: _, ...fields } = toMessage(from, stored, null, claimToken)\n    return { ...fields, bytes: stored.body, error }\n',
    before: '    throw error\n',
    own: ['test/models/poison.test.ts'],
  },
  {
    fault: 'a queue that was only queried leaves a key for ever',
    file: 'lua/shared/queue/ends.lua',
    now: "    redis.call('UNLINK', meta)\n    return\n",
    before: '',
    own: ['test/audit/audit.test.ts'],
  },
  {
    fault: 'who may not listen, or cannot yet, does not ask by itself',
    file: 'src/runtime/waiting/waiter.ts',
    now: 'const RECHECK_UNHEARD_MS = 250',
    before: 'const RECHECK_UNHEARD_MS = 3_600_000',
    own: ['test/faults/lock-rights.test.ts'],
  },
  {
    fault: 'a partition that was cleared is used without asking for the number again',
    file: 'src/runtime/partitions/agreement.ts',
    now: "    while (answer.status === 'unagreed') answer = await call(await this.prove(partition, by, atClose))\n",
    before: "    if (answer.status === 'unagreed') answer = await call('1')\n",
    own: ['test/models/partition-number.test.ts'],
  },
  {
    fault: 'what was lost while it was released is believed to be held',
    file: 'src/runtime/leases/kept-lease.ts',
    now: '      if (this.#mayBeHeld) this.#lose()\n',
    before: '',
    own: ['test/faults/lease-states.test.ts'],
  },
]
