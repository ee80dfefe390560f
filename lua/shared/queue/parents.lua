-- Jobs that wait for others, their parents.
--
-- A parent is named by a ref: its number, or, of another queue, 'q<queue>\1<id>'. `children` holds, all with score 0,
-- '<ref>\0<child>' for each child that waits for it, and '<ref>\0q<queue>\1<id>' for each queue that asked after it by that
-- id. `parents` holds refs: with 0, those that have ended, and whose children are not all told; with a time in
-- milliseconds, those of other queues, which are asked after then.
--
-- In the hash of jobs:
--   d<child>  '<policy><left> <delay_ms>\0<ref>\0<ref>…': what becomes of it if a parent fails (b: dies, c: is cancelled,
--             r: runs nevertheless), how many it waits for, and its delay from then on
--   y<ref>    how many jobs name that parent
--   z<ref>    how it ended, for as long as somebody wants to know: f (done), d (dead), x (cancelled), a (not known), its
--             id, and its result (see also shared/queue/keep-end) or what it died of

local function pack_end(letter, id, text)
  return struct.pack('>c1Hc0', letter, #id, id) .. text
end

-- Letter and id; what follows begins at the third value.
local function unpack_end(packed)
  return struct.unpack('>c1Hc0', packed)
end

-- A parent has ended: its children are to be told; see shared/queue/settle.
local function end_parent(keys, queue, seq, id, letter, text)
  redis.call('HSET', keys.jobs, 'z' .. seq, pack_end(letter, id == '' and seq or id, text))
  redis.call('ZADD', keys.parents, '0', seq)
  queue.settling = true
  set_mark(queue, DEPENDENCIES)
end

local function each_ref(stored)
  return string.gmatch(string.match(stored, '%z(.*)$') or '', '[^%z]+')
end

local function unblock(keys, queue, seq, run)
  redis.call('ZREM', keys.blocked, seq)
  queue.blocked = queue.blocked - run.size
end

-- A child waits no more. How many links a call takes apart is counted; see shared/queue/work.
local function leave_parents(keys, queue, seq, stored)
  local links = {}
  for ref in each_ref(stored) do
    links[#links + 1] = ref .. '\0' .. seq
  end
  if #links > 0 then
    redis.call('ZREM', keys.children, unpack(links))
  end
  queue.work = (queue.work or 0) + #links
end

-- No job names that parent any more.
local function forget_parent(keys, ref)
  redis.call('HDEL', keys.jobs, 'y' .. ref)
  -- Who has ended just now is still told of.
  if redis.call('ZSCORE', keys.parents, ref) ~= '0' then
    redis.call('HDEL', keys.jobs, 'z' .. ref)
    redis.call('ZREM', keys.parents, ref)
  end
end

-- One job fewer names these parents, each of which is named by one. A few commands, but for those that nobody names any more.
local function unname_parents(keys, refs)
  local counts, left = {}, {}
  for at, ref in ipairs(refs) do
    counts[at] = 'y' .. ref
  end
  for at, count in ipairs(#refs > 0 and redis.call('HMGET', keys.jobs, unpack(counts)) or {}) do
    if count and tonumber(count) > 1 then
      left[#left + 1] = counts[at]
      left[#left + 1] = string.format('%d', count - 1)
    else
      forget_parent(keys, refs[at])
    end
  end
  if #left > 0 then
    redis.call('HSET', keys.jobs, unpack(left))
  end
end

-- News of a parent in another queue; nobody may want them any more.
local function hear_of_parent(keys, queue, source, id, ended)
  local ref = 'q' .. source .. '\1' .. id
  if redis.call('HEXISTS', keys.jobs, 'y' .. ref) == 1 then
    redis.call('HSET', keys.jobs, 'z' .. ref, ended)
    redis.call('ZADD', keys.parents, '0', ref)
    queue.settling = true
  end
end

-- A job that has parents is no more: what was kept of those for it is dropped, if nobody else wants it.
local function drop_parents(keys, queue, seq)
  local stored = redis.call('HGET', keys.jobs, 'd' .. seq)
  if not stored then
    return
  end
  leave_parents(keys, queue, seq, stored)
  local refs = {}
  for ref in each_ref(stored) do
    refs[#refs + 1] = ref
  end
  unname_parents(keys, refs)
  redis.call('HDEL', keys.jobs, 'd' .. seq)
end
