-- The main key of a queue: one hash, read once and written once a call.
--   layout, codec    the form of the stored data, and of the payloads; the layout is 2 from the first payload that is
--                    stored apart, which clients that know only 1 would treat as missing
--   partitions       number of partitions of the queue, if this is one of them; see shared/agreement
--   <caller>         the record of a slot; see shared/calls
--   settings, burst  the configuration; see `parse_settings` and `read_burst`
--   state            the numbers below, packed as doubles
--     began_us       server microseconds at which the queue began
--     last           the newest job: its server microsecond, or one more than the previous job
--     token          the newest token of an attempt
--     groups, kinds  the newest numbers of a group of jobs and of a kind of failure
--     idle, idlers   number of waiting workers, and the newest number of one
--     watch_ms       when the worker that watches the time comes back; 0: none watches
--     turn           groups served since a job without one was
--     ghosts         entries of the ready list whose jobs are elsewhere, or removed
--     marks          features that the queue ever used; see MARKS
--     due_ms         no scheduled job is due and no lease ends before; see shared/queue/due
--     arrival_us     theoretical arrival time of the queue's rate
--     chores         work for some process; see CHORES
--     sent           the newest number of entries for other queues
--     listened_ms    until when there are event listeners
--     minute         to which the newest notes of the statistics belong; 0: there are none
--     enqueued, acked, retried, failed, reclaimed, cancelled    how often
--     ready, scheduled, blocked, claimed, dead, done            bytes of jobs in that state
--     usual          after them, the name of the first plain job; records of others with that name do not repeat it
local QUEUE_LAYOUT, APART_LAYOUT = '1', '2'
local NUMBERS_BYTES = 29 * 8

-- A queue that does not exist yet has began_us 0 and takes the caller's codec.
local function read_queue(meta, codec, caller)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'state', 'settings', caller, 'partitions')
  local layout, packed = stored[1] or QUEUE_LAYOUT, stored[3] or string.rep('\0', NUMBERS_BYTES)
  local is_apart = layout == APART_LAYOUT
  if is_apart then
    layout = QUEUE_LAYOUT
  end
  -- An unknown layout may have another state; the caller refuses it first.
  local readable = layout == QUEUE_LAYOUT and packed or string.rep('\0', NUMBERS_BYTES)
  local began_us, last, token, groups, kinds, idle, idlers, watch_ms, more =
    struct.unpack('>dddddddd', readable)
  local turn, ghosts, marks, due_ms, arrival_us, chores, sent, listened_ms, minute, rest =
    struct.unpack('>ddddddddd', readable, more)
  local enqueued, acked, retried, failed, reclaimed, cancelled, sizes =
    struct.unpack('>dddddd', readable, rest)
  local ready, scheduled, blocked, claimed, dead, done = struct.unpack('>dddddd', readable, sizes)
  -- One constructor: a table that grows field by field is copied again and again.
  return {
    layout = layout,
    is_apart = is_apart,
    codec = stored[2] or codec,
    packed = packed,
    settings = stored[4],
    record = stored[5],
    partitions = tonumber(stored[6] or 0),
    began_us = began_us,
    last = last,
    token = token,
    groups = groups,
    kinds = kinds,
    idle = idle,
    idlers = idlers,
    watch_ms = watch_ms,
    turn = turn,
    ghosts = ghosts,
    marks = marks,
    due_ms = due_ms,
    arrival_us = arrival_us,
    chores = chores,
    sent = sent,
    listened_ms = listened_ms,
    minute = minute,
    enqueued = enqueued,
    acked = acked,
    retried = retried,
    failed = failed,
    reclaimed = reclaimed,
    cancelled = cancelled,
    ready = ready,
    scheduled = scheduled,
    blocked = blocked,
    claimed = claimed,
    dead = dead,
    done = done,
    usual = string.sub(readable, NUMBERS_BYTES + 1),
  }
end

-- Refuses a call for data of another layout, or, if `codec` and `partitions` are given, of another codec or number of
-- partitions.
local function refusal_of_queue(queue, codec, partitions)
  if queue.layout ~= QUEUE_LAYOUT then
    return redis.error_reply('LAYOUT ' .. queue.layout)
  elseif codec and queue.codec ~= codec then
    return redis.error_reply('CODEC ' .. queue.codec)
  elseif partitions and queue.partitions > 0 and queue.partitions ~= partitions then
    return redis.error_reply('PARTITIONS ' .. queue.partitions)
  end
  return nil
end

local function open_queue(meta, codec, partitions)
  local queue = read_queue(meta, codec or '', '')
  return refusal_of_queue(queue, codec, partitions), queue
end

-- Data of the whole call: its time, how waiters are notified (see shared/messages; nil: not at all), and, if there are
-- event listeners, room for the events of the call.
local function begin_call(queue, how)
  local now_us = clock_us()
  queue.now_us, queue.now_ms, queue.how = now_us, math.floor(now_us / 1000), how
  if queue.listened_ms > queue.now_ms then
    queue.events = {}
  end
end

-- Opens a queue to change it, for a call without an id.
local function open_to_change(meta, how, codec, partitions)
  local queue = read_queue(meta, codec or '', '')
  local refusal = refusal_of_queue(queue, codec, partitions)
  if refusal then
    return refusal
  end
  begin_call(queue, how)
  return nil, queue
end

-- Opens a queue to change it, for a call with an id. The last value is the earlier answer of a repeated call.
local function open_call(meta, how, call_id, codec, partitions)
  local queue = read_queue(meta, codec or '', call_id.caller)
  local refusal = refusal_of_queue(queue, codec, partitions)
  if refusal then
    return refusal
  end
  begin_call(queue, how)
  local late, remembered = recall(queue.record, call_id)
  return late, queue, remembered
end

-- Features that the queue ever used. An unused one is not looked at: most queues use few.
local MARKS = bits({
  'priorities',
  'groups',
  -- The fast path ignores the following ones.
  'dependencies',
  'recurrences',
  'wide_jobs', -- see `widen`
  'wide_leases',
  'returned', -- also if those jobs have been removed; see shared/queue/ready
  'bodies', -- payloads that are stored apart; see shared/queue/job
})

-- Work that scripts cannot do by themselves, for some process; see src/queue/source/chores.ts.
local CHORES = bits({
  'refill', -- a recurring job runs out of known times
  'deliver', -- entries wait for delivery to other queues
  'ask_after', -- dependencies in other queues have to be checked
})

local function is_marked(queue, mark)
  return queue.marks % (mark * 2) >= mark
end

local function set_mark(queue, mark)
  if not is_marked(queue, mark) then
    queue.marks = queue.marks + mark
  end
end

-- The numbers of new jobs; see shared/queue/job.

-- The last number of `count` new jobs is `queue.last`; returns the first.
local function number_jobs(queue, count)
  local first = math.max(queue.last + 1, queue.now_us)
  queue.last = first + count - 1
  queue.enqueued = queue.enqueued + count
  return first
end

-- How often a recurring job has moved to another partition; see shared/queue/recurrence.

local function moves_of(recurrences, id)
  return tonumber(redis.call('HGET', recurrences, 'm' .. id) or 0)
end

-- `due_ms` of a queue in which nothing will be due; see shared/queue/due.
local NEVER_MS = 9007199254740991

-- Redis keeps a hash or a sorted set of few small entries as one list, and searches it from its front for each entry.
-- One entry of more than 64 bytes prevents that for the busiest keys of a queue; no job has it, and it comes last: in
-- the hash of jobs, and among the leases. It halves the cost of a batch; see docs/decisions/0014.

-- Adds the entry to the written fields, if it is missing.
local function widen(queue, mark, written, first)
  if queue.marks % (mark * 2) < mark then
    queue.marks = queue.marks + mark
    written[#written + 1] = first
    written[#written + 1] = string.rep('~', 65)
  end
end

-- Changes to the main key of a queue; see above for its fields.

-- Stores a queue that did not exist, so that its main key exists from its first write on.
local function begin_queue(meta, queue)
  if queue.began_us == 0 then
    queue.began_us = queue.now_us
    -- From here on every write updates due_ms.
    queue.due_ms = 9007199254740991
    redis.call('HSET', meta, 'layout', queue.layout, 'codec', queue.codec)
    -- The data of waiters was about to expire; see shared/queue/ends.
    redis.call('PERSIST', meta)
  end
end

local function packed_state(queue)
  return struct.pack(
    '>dddddddddddddddddddddddddddddc0',
    queue.began_us,
    queue.last,
    queue.token,
    queue.groups,
    queue.kinds,
    queue.idle,
    queue.idlers,
    queue.watch_ms,
    queue.turn,
    queue.ghosts,
    queue.marks,
    queue.due_ms,
    queue.arrival_us,
    queue.chores,
    queue.sent,
    queue.listened_ms,
    queue.minute,
    queue.enqueued,
    queue.acked,
    queue.retried,
    queue.failed,
    queue.reclaimed,
    queue.cancelled,
    queue.ready,
    queue.scheduled,
    queue.blocked,
    queue.claimed,
    queue.dead,
    queue.done,
    queue.usual
  )
end

-- Writes the state, and the record of a call if there is one. Returns how many lasting fields were added.
local function write_state(meta, queue, packed, caller, record)
  if queue.stands_apart and not queue.is_apart then
    redis.call('HSET', meta, 'layout', APART_LAYOUT)
  end
  if queue.began_us == 0 then
    save_awaited(meta, queue, packed, caller, record)
    return 0
  elseif caller then
    return redis.call('HSET', meta, 'state', packed, caller, record)
  end
  return redis.call('HSET', meta, 'state', packed)
end

-- Writes the state if it has changed.
local function save_queue(meta, queue)
  local packed = packed_state(queue)
  if packed ~= queue.packed then
    write_state(meta, queue, packed)
  end
end

-- Saves the queue and remembers the call, in one write.
local function save_queue_and_call(meta, queue, call_id, answer)
  if call_id.caller == '' then
    return save_queue(meta, queue)
  end
  local record = call_record(call_id, queue.now_ms, answer)
  local added = write_state(meta, queue, packed_state(queue), call_id.caller, record)
  forget_old_calls(meta, call_id, added, queue.now_ms)
end

-- The commands in the middle of a call, each once on nothing: if the right to one of them is missing, the call is
-- refused before it has changed anything. Removals come first, so that a server out of memory continues; a call that
-- such a server must reject checks before.

local function refuse_when_full(keys)
  redis.call('ZADD', keys.parents, 'XX', '0', '')
end

local function try_rights(keys, queue)
  redis.call('HDEL', keys.jobs, '')
  redis.call('ZREM', keys.parents, '')
  redis.call('ZADD', keys.parents, 'XX', '0', '')
  redis.call('HGET', keys.jobs, '')
  redis.call('HEXISTS', keys.jobs, '')
  redis.call('ZSCORE', keys.parents, '')
  redis.call('ZRANGEBYSCORE', keys.parents, '+inf', '-inf')
  redis.call('ZRANGEBYLEX', keys.children, '+', '-')
  if queue.began_us > 0 then
    redis.call('HSET', keys.meta, 'codec', queue.codec)
  end
end

-- The new value of a setting: a negative one leaves it unchanged.
local function pick(new, old)
  return new < 0 and old or new
end

local LIMITS = arguments({
  paused = 'integer', -- 1: hands out no jobs; 0: does
  concurrency = 'integer', -- jobs claimed at once; 0: any number
  rate_limit = 'integer', -- jobs claimed in a window; 0: any number
  rate_window_ms = 'integer', -- the window
})

-- For a queue or a group.
local function set_limits(held, limits)
  if limits.paused >= 0 then
    held.paused = limits.paused == 1
  end
  held.concurrency = pick(limits.concurrency, held.concurrency)
  held.rate_limit = pick(limits.rate_limit, held.rate_limit)
  held.rate_window_ms = pick(limits.rate_window_ms, held.rate_window_ms)
end

-- The configuration of a queue, one text:
-- '<paused>,<concurrency>,<rate_limit>,<rate_window_ms>,<retention_count>,<retention_ms>'. 0 for a number: no limit,
-- nothing kept. Not separated by spaces: a text that begins with two numbers is a call (see shared/calls). The burst of
-- the rate has a field of its own; see `read_burst`.

local function parse_settings(text)
  local paused, concurrency, rate_limit, rate_window_ms, retention_count, retention_ms =
    string.match(text or '0,0,0,0,0,0', '^(%d),(%d+),(%d+),(%d+),(%d+),(%d+)$')
  return {
    paused = paused == '1',
    concurrency = tonumber(concurrency),
    rate_limit = tonumber(rate_limit),
    rate_window_ms = tonumber(rate_window_ms),
    rate_burst = 0,
    retention_count = tonumber(retention_count),
    retention_ms = tonumber(retention_ms),
  }
end

local function format_settings(settings)
  return string.format(
    '%d,%.0f,%.0f,%.0f,%.0f,%.0f',
    settings.paused and 1 or 0,
    settings.concurrency,
    settings.rate_limit,
    settings.rate_window_ms,
    settings.retention_count,
    settings.retention_ms
  )
end

-- The burst of a rate, if one is set: '<rate_limit>,<rate_window_ms>,<burst>', in a field of its own, because processes
-- of older releases know none. So it belongs to the rate with which it was set, and not to one that those have set
-- since. Those of groups are in the hash of groups, each after a byte with which no name begins; the field of that byte
-- alone has their number.
local GROUP_BURST = '\255'

-- 0: as many as the rate allows in a window.
local function read_burst(hash, field, rate)
  local stored = redis.call('HGET', hash, field)
  local limit, window_ms, burst = string.match(stored or '', '^(%d+),(%d+),(%d+)$')
  local is_of_rate = tonumber(limit) == rate.rate_limit and tonumber(window_ms) == rate.rate_window_ms
  return is_of_rate and tonumber(burst) or 0
end

-- Changes to bursts. They precede the settings: removing one may be rejected, and a queue that continues by its
-- settings must know what is due. Before them comes a write that a server out of memory rejects: after a removal it
-- accepts all.

-- Returns how many fields were added.
local function keep_burst(hash, field, rate)
  if rate.rate_limit == 0 or rate.rate_burst == 0 then
    return -redis.call('HDEL', hash, field)
  end
  local text = string.format('%.0f,%.0f,%.0f', rate.rate_limit, rate.rate_window_ms, rate.rate_burst)
  return redis.call('HSET', hash, field, text)
end
