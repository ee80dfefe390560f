-- Dead jobs: `dead` by when they died, `failed` by the number of the kind of their last failure. The kinds are a hash:
-- under the name of a kind '<number> <count> <first_ms> <last_ms> <job> <message>', of the newest dead job.

-- The shown part of a text: 200 bytes at most, and whole characters.
local function beginning_of(text)
  local last = math.min(#text, 200)
  while last < #text and string.find(text, '^[\128-\191]', last + 1) do
    last = last - 1
  end
  return string.sub(text, 1, last)
end

local function count_dead(kinds, queue, seq, failure)
  local kind = failure.kind
  local stored = redis.call('HGET', kinds, kind)
  local number, count, first_ms = string.match(stored or '', '^(%d+) (%d+) (%d+) ')
  if not number then
    queue.kinds = queue.kinds + 1
    number, count, first_ms = queue.kinds, 0, queue.now_ms
  end
  local text = string.format(
    '%.0f %.0f %.0f %.0f %s %s',
    number,
    count + 1,
    first_ms,
    queue.now_ms,
    seq,
    beginning_of(failure.message)
  )
  redis.call('HSET', kinds, kind, text)
  return tonumber(number)
end

-- Makes a job dead that is not claimed any more. It keeps its id; its unique key is free. `failure`: its `kind` and its
-- `message`.
local function end_dead(keys, queue, seq, job, run, failure)
  if has_flag(run.flags, FLAGS.dependency) then
    end_dependency(keys, queue, seq, job.id, 'd', failure.kind .. '\0' .. failure.message)
    run.flags = run.flags - FLAGS.dependency
  end
  local number = count_dead(keys.kinds, queue, seq, failure)
  redis.call('ZADD', keys.dead, string.format('%.0f', queue.now_ms), seq)
  redis.call('ZADD', keys.failed, number, seq)
  redis.call(
    'HSET',
    keys.jobs,
    'r' .. seq,
    pack_run(run, 'd', queue.now_ms),
    'e' .. seq,
    pack_failure(queue.now_ms, failure)
  )
  free_unique(keys.ids, job, seq, true)
  queue.dead, queue.failed = queue.dead + run.size, queue.failed + 1
end

-- A dead job leaves its state.
local function leave_dead(keys, queue, seq, run)
  redis.call('ZREM', keys.dead, seq)
  redis.call('ZREM', keys.failed, seq)
  queue.dead = queue.dead - run.size
  local _, kind = unpack_failure(redis.call('HGET', keys.jobs, 'e' .. seq))
  local number, count, rest = string.match(redis.call('HGET', keys.kinds, kind) or '', '^(%d+) (%d+) (.*)$')
  if not number then
    return
  elseif tonumber(count) <= 1 then
    redis.call('HDEL', keys.kinds, kind)
  else
    redis.call('HSET', keys.kinds, kind, number .. ' ' .. string.format('%.0f', count - 1) .. ' ' .. rest)
  end
end

-- The end of a job that was claimed until now, and is dead.
local function fail_claimed(keys, queue, seq, job, run, failure)
  local kind = failure.kind
  note_history(keys.jobs, seq, run, { what = 'b', at_ms = queue.now_ms, claimed_ms = run.at_ms, kind = kind })
  happened(queue, 'dead', seq, job, run, kind)
  local ended = { state = 'd', kind = kind, message = failure.message, result = '' }
  note_end(keys.jobs, queue, seq, job, run, ended)
  end_dead(keys, queue, seq, job, run, failure)
end

-- The place in `failed`, between two places, of the first job whose number is greater. All are of one kind, and sorted
-- by their numbers, which all have equally many digits.
local function place_behind(failed, from, to, seq)
  while from < to do
    local middle = math.floor((from + to) / 2)
    local place = string.format('%.0f', middle)
    if tonumber(redis.call('ZRANGE', failed, place, place)[1]) > seq then
      to = middle
    else
      from = middle + 1
    end
  end
  return from
end

-- Dead jobs whose failure was of a kind and whose number is greater than `after`, and whether there are no more.
local function page_of_kind(keys, kind, after, limit)
  local number = string.match(redis.call('HGET', keys.kinds, kind) or '', '^%d+')
  if not number then
    return {}, true
  end
  local first = redis.call('ZCOUNT', keys.failed, '-inf', '(' .. number)
  local behind = first + redis.call('ZCOUNT', keys.failed, number, number)
  local from = place_behind(keys.failed, first, behind, after)
  local to = math.min(from + limit, behind)
  if from == to then
    return {}, true
  end
  local numbers =
    redis.call('ZRANGE', keys.failed, string.format('%.0f', from), string.format('%.0f', to - 1))
  return numbers, to == behind
end
