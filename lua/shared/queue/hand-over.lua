-- A job that comes while a worker waits is claimed for it there and then, and travels in the letter that calls it: that
-- saves the worker a call. It is as if the worker had claimed it, and died where it never reads the letter.
--
-- A worker that takes jobs so ends its name with ':' and how long it claims them, in ms. Its letter is
--   'job <name> <number> <token> <ends_at_ms>', the name of the job, its payload
-- in three lines, of which only the last one may have breaks. Letters are texts, and so must be the payloads in them.
local MOST_HANDED = 8192

-- Only where whoever claimed would get just this job, and nothing else happened; and where those who are gone are known.
local function may_hand(queue, codec, ready, name, payload, now_ms, how)
  return queue.idle > 0
    and how.counted
    and codec == 'json'
    and #payload <= MOST_HANDED
    and not string.find(name, '\n', 1, true)
    and not queue.settings
    and queue.marks % 4 == 0
    and queue.due_ms > now_ms
    and redis.call('EXISTS', ready) == 0
end

-- Ready again, for it could not be handed over.
local function take_back_handed(keys, seq, name, size)
  local at_ms = math.floor(seq / 1000)
  redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('r', 0, 0, at_ms, size, PLAIN, name))
end

-- Answers whether the user may do that; if not, the job is as it was.
local function store_handed(keys, queue, seq, name, size, token, now_ms, ends_ms)
  local scores, marks = { exact(ends_ms), seq }, queue.marks
  redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('c', token, 1, now_ms, size, PLAIN, name))
  widen(queue, WIDE_LEASES, scores, '+inf')
  if type(redis.pcall('ZADD', keys.leases, unpack(scores))) == 'number' then
    return true
  end
  queue.marks = marks
  take_back_handed(keys, seq, name, size)
  return false
end

-- Nobody could be told. Answers whether the lease could be taken back; if not, it is as if the worker had died.
local function take_back_lease(keys, seq, name, size)
  if type(redis.pcall('ZREM', keys.leases, seq)) == 'table' then
    return false
  end
  take_back_handed(keys, seq, name, size)
  return true
end

local function note_handed(queue, name, size, token, ends_ms)
  note_due(queue, ends_ms)
  note_alike(queue, 'w', name, 1, 0, 0, 0)
  queue.token, queue.claimed = token, queue.claimed + size
end

-- Stores a plain job, and claims it for the first whose process listens. Answers whether there is one, and whether nobody else is
-- to be called: one was that does not take jobs so, or of which nobody knows whether it listens, or nobody waits.
local function hand_over(keys, queue, seq, name, payload, record, now_us, how)
  local fields = { seq, record }
  widen(queue, WIDE_JOBS, fields, '~')
  redis.call('HSET', keys.jobs, unpack(fields))
  local now_ms, token = math.floor(now_us / 1000), next_token(queue.token, now_us)
  local worker, listens = pop_living(keys.idle, queue, how)
  if not worker then
    -- Nobody waits, or this call has passed over as many as it may.
    return false, true
  end
  local lease_ms, ticket = tonumber(string.match(worker, ':(%d+)$')), ticket_of(worker)
  if not listens or not lease_ms then
    publish_to(ticket, come_message(ticket), how)
    see_to_second(keys.idle, queue, process_of(ticket), now_ms + LATE_MS, now_ms, how)
    return false, true
  end
  local ends_ms = now_ms + lease_ms
  local words = { 'job', ticket.id, seq, exact(token), exact(ends_ms) }
  local letter = table.concat(words, ' ') .. '\n' .. name .. '\n' .. payload
  if
    not store_handed(keys, queue, seq, name, #record, token, now_ms, ends_ms)
    or not publish_to(ticket, letter, how) and take_back_lease(keys, seq, name, #record)
  then
    -- It looks by itself after a while.
    return false, true
  end
  note_handed(queue, name, #record, token, ends_ms)
  see_to(keys.idle, queue, ends_ms, now_ms, how)
  return true, false
end
