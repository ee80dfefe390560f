-- Who holds a name, in the hash of ids: under 'i' and an id the number of its job; under 'u' and a key that is to be
-- unique '<job> <until> <ends_ms>'. `until`: s its job starts, d its job is done, w a time is over.

-- The number of the job that a key of users belongs to, or nil.
local function holder_of_unique(ids, key, now_ms)
  local seq, till, ends_ms = string.match(redis.call('HGET', ids, 'u' .. key) or '', '^(%d+) (%a) (%d+)$')
  if not seq or (till == 'w' and tonumber(ends_ms) <= now_ms) then
    return nil
  end
  return seq
end

local function hold_unique(ids, key, seq, till, ends_ms)
  redis.call('HSET', ids, 'u' .. key, string.format('%s %s %.0f', seq, till, ends_ms))
end

-- Keys of users that were held for a time are dropped by sampling, two for each that comes: where as many end as come, no more
-- than half of them are over.
local function forget_old_uniques(ids, count, now_ms)
  drop_over(ids, math.max(4, 2 * count), function(held)
    local ends_ms = string.match(held, ' w (%d+)$')
    return ends_ms and tonumber(ends_ms) <= now_ms
  end)
end

-- Frees the key of a job, where it is the job's own; `all`: also one that is held until the job is done.
local function free_unique(ids, job, seq, all)
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  if till == 's' or (till == 'd' and all) then
    local stored = redis.call('HGET', ids, 'u' .. key)
    if stored and string.match(stored, '^%d+') == seq then
      redis.call('HDEL', ids, 'u' .. key)
    end
  end
end

-- Frees all names of a job that is no more.
local function free_names(ids, job, seq)
  free_unique(ids, job, seq, true)
  if job.id ~= '' and redis.call('HGET', ids, 'i' .. job.id) == seq then
    redis.call('HDEL', ids, 'i' .. job.id)
  end
end
