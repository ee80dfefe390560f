-- Entries for other queues, which this script cannot reach: `outbox` has the numbers, rising, and the hash of jobs
-- under 'x' and the number '<queue><what>', where `what` is 'e' and the end of a dependency, or 'j' and a job; see
-- shared/queue/enqueue. Some process delivers them, and confirms that.

local function put_out(keys, queue, target, what)
  queue.sent = math.max(queue.sent + 1, queue.now_us)
  local number = string.format('%.0f', queue.sent)
  redis.call('HSET', keys.jobs, 'x' .. number, struct.pack('>Hc0', #target, target) .. what)
  redis.call('ZADD', keys.outbox, number, number)
  queue.chores = with_flag(queue.chores, CHORES.deliver)
end

-- Puts out the news of an end for a dependent in another queue.
local function put_out_end(keys, queue, dependent, ref, letter, text)
  local target, asked = string.match(dependent, '^q(.*)\1(.*)$')
  -- See shared/queue/ends.
  local result = letter == 'f' and text == '' and redis.call('HGET', keys.jobs, 'o' .. ref) or text
  put_out(keys, queue, target, 'e' .. pack_end(letter, asked, result))
  queue.moved = queue.moved + #result
end

-- Reports dependencies; see shared/queue/dependencies.

-- Queue (empty: this one) and id of a dependency.
local function split_ref(jobs, ref)
  local name, id = string.match(ref, '^q(.*)\1(.*)$')
  if name then
    return name, id
  end
  local record = redis.call('HGET', jobs, ref)
  local own = record and read_job(record).id or ''
  return '', own == '' and ref or own
end

local ENDS = { f = 'done', d = 'dead', x = 'cancelled', a = 'absent' }

-- `waits`: it has not ended for this dependent. Returns how many bytes its end has.
local function report_dependency(reported, jobs, ref, waits)
  local name, id = split_ref(jobs, ref)
  local state, result, kind, message = 'pending', '', '', ''
  local packed = not waits and redis.call('HGET', jobs, 'z' .. ref)
  if packed then
    local letter, own, text_at = struct.unpack('>c1Hc0', packed)
    state, id = ENDS[letter], own
    if letter == 'f' then
      -- See shared/queue/ends.
      result = #packed < text_at and redis.call('HGET', jobs, 'o' .. ref) or string.sub(packed, text_at)
    elseif letter == 'd' then
      kind, message = string.match(string.sub(packed, text_at), '^([^%z]*)%z(.*)$')
    end
  end
  for _, part in ipairs({ name, id, state, result, kind, message }) do
    reported[#reported + 1] = part
  end
  return #result + #message
end

-- Entries from other queues.

-- Whether the jobs that waited for news were removed when their queue was cleared: it does not exist, or has another
-- number of partitions since. Late news does not begin it again.
local function is_stale_news(queue, partitions)
  if queue.layout ~= QUEUE_LAYOUT then
    return string.find(queue.layout, '^in %d+ partitions$') ~= nil
  end
  return queue.began_us == 0 or (queue.partitions > 0 and queue.partitions ~= partitions)
end

-- An entry of an outbox: a group of a repeated argument.
local ENTRIES = fields({ 'number:integer', 'what:bytes' })

-- Whether there are jobs among the entries of an outbox.
local function brings_jobs(entries, entries_at)
  for at = entries_at, #entries, #ENTRIES do
    if string.sub(entries[at + ENTRIES.what], 1, 1) == 'j' then
      return true
    end
  end
  return false
end

-- Whether a job newer than the newest that was asked for (0: any) waits for that dependency.
local function waits_since(keys, ref, newest)
  local from = '(' .. ref .. '\0' .. exact(newest)
  return newest > 0
    and redis.call('ZRANGEBYLEX', keys.children, from, '(' .. ref .. '\1', 'LIMIT', '0', '1')[1]
end

-- A dependency that its queue no longer knows. A known end applies to all dependents except those added since. If there
-- are any, the dependency may exist by now, and is checked again for them.
local function hear_of_unknown(keys, queue, source, id, newest)
  local ref = 'q' .. source .. '\1' .. id
  if waits_since(keys, ref, newest) then
    if redis.call('ZSCORE', keys.parents, ref) ~= '0' then
      redis.call('ZREM', keys.parents, ref)
      link_elsewhere(keys, queue, ref)
      if redis.call('HEXISTS', keys.jobs, 'z' .. ref) == 0 then
        redis.call('HSET', keys.jobs, 'z' .. ref, pack_end('a', id, ''))
      end
      queue.asked = queue.asked or {}
      table.insert(queue.asked, { ref = ref, newest = newest })
      queue.settling = true
    end
    return
  end
  local waits =
    redis.call('ZRANGEBYLEX', keys.children, '[' .. ref .. '\0', '(' .. ref .. '\1', 'LIMIT', '0', '1')
  local is_reported = not waits[1] or redis.call('ZSCORE', keys.parents, ref) == '0'
  if is_reported and redis.call('HEXISTS', keys.jobs, 'z' .. ref) == 1 then
    redis.call('ZADD', keys.parents, '0', ref)
    queue.settling = true
  else
    hear_of_dependency(keys, queue, source, id, pack_end('a', id, ''))
  end
end

-- Dependents of dependencies that were unknown when checked; others of the same dependency were added since, for which
-- it is checked again. See `hear_of_unknown`.

-- At most so many; the others are notified after the next check. Returns how many became ready, and how many more may
-- be notified.
local function settle_asked(keys, queue, most)
  local became_ready = 0
  for _, asked in ipairs(queue.asked or {}) do
    local ref = asked.ref
    local last = '[' .. ref .. '\0' .. exact(asked.newest)
    local members = most > 0
        and redis.call('ZRANGEBYLEX', keys.children, '[' .. ref .. '\0', last, 'LIMIT', '0', most)
      or {}
    local letter, id = unpack_end(redis.call('HGET', keys.jobs, 'z' .. ref))
    for _, member in ipairs(members) do
      redis.call('ZREM', keys.children, member)
      if settle_dependent(keys, queue, string.sub(member, #ref + 2), letter, id) then
        became_ready = became_ready + 1
      end
    end
    most = most - #members
  end
  return became_ready, most
end

-- These and all others, as settle_dependents.
local function settle_news(keys, queue, most)
  local became_ready, left = settle_asked(keys, queue, most)
  return became_ready + settle_dependents(keys, queue, left)
end

-- Takes entries from the outbox of another queue.

-- The bound of one call, in about as many commands; see src/queue/jobs/job-options.ts for the bounds of an enqueued
-- job.
local MOST_TAKEN_WORK = 2000

-- The work of a job with its tags and its dependencies.
local function work_of(specs)
  local work = 4
  for _, texts in ipairs({ specs[1 + SPECS.tags], specs[1 + SPECS.depends_on] }) do
    local _, count = string.gsub(texts, '%z', '')
    work = work + (texts == '' and 0 or count + 1)
  end
  return work
end

local function take_job(keys, queue, tally, packed)
  begin_queue(keys.meta, queue)
  begin_jobs(keys, queue)
  tally.specs = unpack_spec(packed)
  enqueue_spec(keys, queue, tally, 1, 0, exact(number_jobs(queue, 1)))
  return work_of(tally.specs)
end

-- `from.newest`: the newest number received from there. Returns how many entries were taken, or skipped.
local function take_entries(keys, queue, tally, from, entries, entries_at)
  local work, taken = 0, 0
  for at = entries_at, #entries, #ENTRIES do
    if work >= MOST_TAKEN_WORK then
      break
    end
    taken = taken + 1
    local number, what = tonumber(entries[at + ENTRIES.number]), entries[at + ENTRIES.what]
    local kind, rest = string.sub(what, 1, 1), string.sub(what, 2)
    if kind == 'a' then
      hear_of_unknown(keys, queue, from.source, rest, number)
    elseif number > from.newest then
      -- Entries received before are skipped. A late copy must not report on another job that has that id by now.
      from.newest = number
      if kind == 'e' then
        local _, id = unpack_end(rest)
        hear_of_dependency(keys, queue, from.source, id, rest)
      else
        work = work + take_job(keys, queue, tally, rest)
      end
    end
  end
  return taken
end
