-- The state of a partition of counters: one hash, read once a call.
--   layout         the form of the stored data
--   epoch          of the ledger in SQL that numbers the batches of this life of the partition; 0: none yet
--   seq            number of the newest sealed batch of the epoch; 0: none yet
--   batch          id of the sealed batch; '' or absent: none is sealed
--   pending_ms     time of the oldest increment that is neither sealed nor set aside; 0: none
--   rest_ms        time of the oldest increment that was set aside, some of which are not sealed; 0: none
--   sealed_ms      time of the oldest increment of the sealed batch
--   ledger         place of the ledger; absent: unknown. In the unit of the name alone: location of all that SQL has
--   target         in the unit of the name alone: tables and columns in SQL; absent: unknown
--   agreed_us      in the unit of the name alone: when the number of partitions or the place was last stored
-- And by caller, in the same hash, the last call and answer of every slot (shared/calls).
local COUNTERS_LAYOUT = '1'

local function read_partition(meta, caller)
  local stored =
    redis.call('HMGET', meta, 'layout', 'epoch', 'seq', 'batch', 'pending_ms', 'rest_ms', 'sealed_ms', caller)
  return {
    layout = stored[1] or COUNTERS_LAYOUT,
    epoch = tonumber(stored[2] or 0),
    seq = tonumber(stored[3] or 0),
    batch = stored[4] or '',
    pending_ms = tonumber(stored[5] or 0),
    rest_ms = tonumber(stored[6] or 0),
    sealed_ms = tonumber(stored[7] or 0),
    record = stored[8],
  }
end

local function open_partition(meta, caller)
  local partition = read_partition(meta, caller)
  if partition.layout ~= COUNTERS_LAYOUT then
    return redis.error_reply('LAYOUT ' .. partition.layout)
  end
  return nil, partition
end

local function save_partition(meta, partition)
  redis.call(
    'HSET',
    meta,
    'layout',
    partition.layout,
    'epoch',
    exact(partition.epoch),
    'seq',
    exact(partition.seq),
    'batch',
    partition.batch,
    'pending_ms',
    exact(partition.pending_ms),
    'rest_ms',
    exact(partition.rest_ms),
    'sealed_ms',
    exact(partition.sealed_ms)
  )
end

-- Shows the value that SQL has of a counter. Its notes are added, except those that SQL had when it was read (`known`);
-- if that is unknown (nil), none are. Returns the shown value, as text. A value that leaves 64 bits is left out: it is
-- read again.
local function put(keys, id, stored, known, due_ms)
  local waiting = redis.call('HGET', keys.noted, id)
  redis.call('HSET', keys.shown, id, stored)
  if not waiting then
    if due_ms > 0 then
      keep_clean(keys.shown, keys.idle, id, due_ms)
    end
    return stored
  end
  if not known then
    return stored
  end
  redis.pcall('HINCRBY', keys.shown, id, waiting)
  redis.pcall('HINCRBY', keys.shown, id, opposite(known))
  return redis.call('HGET', keys.shown, id)
end

-- Notes a change in SQL: `noted` keeps it, even 0, until the shown value includes it from SQL. Returns the shown value,
-- as text; nil if none is. A value that cannot be changed is shown no more, and is read from SQL again.
local function note(keys, id, by)
  redis.pcall('HINCRBY', keys.noted, id, by)
  redis.call('ZREM', keys.idle, id)
  if redis.call('HEXISTS', keys.shown, id) == 0 then
    return nil
  end
  local value = redis.pcall('HINCRBY', keys.shown, id, by)
  if type(value) == 'table' then
    redis.call('HDEL', keys.shown, id)
    return nil
  end
  return text_of(keys.shown, id, value)
end

-- The outcome of each increment of a call, for the record of the call: '<at> <why> …|<at> …', refused and known ones.

local function outcomes_text(refused, known)
  return table.concat(refused, ' ') .. '|' .. table.concat(known, ' ')
end

local function read_outcomes(text)
  local refused, known = {}, {}
  local of_refused, of_known = string.match(text, '^(.*)|(.*)$')
  for at, why in string.gmatch(of_refused, '(%d+) (%a+)') do
    refused[#refused + 1] = tonumber(at)
    refused[#refused + 1] = why
  end
  for at in string.gmatch(of_known, '%d+') do
    known[#known + 1] = tonumber(at)
  end
  return refused, known
end

-- How many counters of the sealed batch are pending again.
local function count_again(keys)
  local ids = redis.call('HKEYS', keys.sealed)
  if #ids == 0 then
    return 0
  end
  local count = 0
  for _, delta in ipairs(redis.call('HMGET', keys.pending, unpack(ids))) do
    count = count + (delta and 1 or 0)
  end
  return count
end

-- Whether the values are counted in Redis or in SQL: the place of the counters ends for both together. How many keys
-- there were.
local function clear_all(keys)
  return redis.call(
    'UNLINK',
    keys.meta,
    keys.values,
    keys.pending,
    keys.rest,
    keys.sealed,
    keys.clean,
    keys.once,
    keys.board,
    keys.shown,
    keys.noted,
    keys.idle,
    keys.ahead
  )
end

-- The place of the shown counts, if it differs from this one. A caller that does not know its place is accepted.
local function other_place(board, place)
  local known = redis.call('HGET', board, 'place')
  return known and place ~= '' and known ~= place and known or nil
end

-- Values that may be evicted: `clean` lists those without pending or sealed increments, by the time until which they
-- stay. Other values are not in it, and so are never evicted.

-- Values evicted by one call at most.
local MOST_EVICTED = 1000

-- A server out of memory that rejects the entry has no room for the value either.
local function keep_clean(values, clean, id, until_ms)
  local added = redis.pcall('ZADD', clean, exact(until_ms), id)
  if type(added) == 'table' then
    redis.call('HDEL', values, id)
  end
end

-- Evicts values that are due. Returns how many.
local function evict_due(values, clean, now_ms)
  local due = redis.call('ZRANGEBYSCORE', clean, '-inf', exact(now_ms), 'LIMIT', '0', exact(MOST_EVICTED))
  if #due > 0 then
    redis.call('HDEL', values, unpack(due))
    redis.call('ZREM', clean, unpack(due))
  end
  return #due
end

-- A partition without any increment to flush expires when the last of its values is due.
local function let_vanish(keys, partition, retain_ms)
  if retain_ms > 0 and partition.pending_ms == 0 and partition.rest_ms == 0 and partition.batch == '' then
    redis.call('PEXPIRE', keys.values, exact(retain_ms))
    redis.call('PEXPIRE', keys.clean, exact(retain_ms))
  end
end

-- Called before the first increment of a partition that was about to expire.
local function let_stay(keys)
  redis.call('PERSIST', keys.values)
  redis.call('PERSIST', keys.clean)
end
