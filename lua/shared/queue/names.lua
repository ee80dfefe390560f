-- The holders of names, in the hash of ids: under 'i' and an id the number of its job; under 'u' and a unique key
-- '<job> <until> <ends_ms>'. `until`: s its job starts, d its job is done, w a time is over.

-- The number of the job that holds a unique key, or nil.
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

-- Expired unique keys that were held for a time are dropped by sampling, two for each added one: if as many end as are
-- added, at most half of them have expired.
local function forget_old_uniques(ids, count, now_ms)
  drop_over(ids, math.max(4, 2 * count), function(held)
    local ends_ms = string.match(held, ' w (%d+)$')
    return ends_ms and tonumber(ends_ms) <= now_ms
  end)
end

-- Frees the key of a job, if the job holds it; `all`: also one that is held until the job is done.
local function free_unique(ids, job, seq, all)
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  if till == 's' or (till == 'd' and all) then
    local stored = redis.call('HGET', ids, 'u' .. key)
    if stored and string.match(stored, '^%d+') == seq then
      redis.call('HDEL', ids, 'u' .. key)
    end
  end
end

-- Frees all names of a removed job.
local function free_names(ids, job, seq)
  free_unique(ids, job, seq, true)
  if job.id ~= '' and redis.call('HGET', ids, 'i' .. job.id) == seq then
    redis.call('HDEL', ids, 'i' .. job.id)
  end
end

-- Idempotency keys, in the hash of ids: under 'k' and the key the same text as for a unique key that is held for a
-- time, '<job> w <ends_ms>', so that both are dropped the same way. Whatever the state of the job, a repeated request
-- returns it.
local KEY_KEPT_MS = 86400000

-- The number of the job of the first request with this key, or nil.
local function job_of_key(ids, key, now_ms)
  local seq, ends_ms = string.match(redis.call('HGET', ids, 'k' .. key) or '', '^(%d+) w (%d+)$')
  return seq and tonumber(ends_ms) > now_ms and seq or nil
end

local function remember_job_key(ids, key, seq, now_ms)
  redis.call('HSET', ids, 'k' .. key, string.format('%s w %.0f', seq, now_ms + KEY_KEPT_MS))
end

-- The unique key of a job that begins again and holds it again until it starts, or is done; nil if it needs none.
local function key_again(job)
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  return (till == 's' or till == 'd') and key or nil, till
end

-- Returns false if another job holds it.
local function may_hold_again(ids, job, seq, now_ms)
  local key = key_again(job)
  local holder = key and holder_of_unique(ids, key, now_ms)
  return not holder or holder == seq
end

-- After the first write: a full server rejects a call whose first write may need memory.
local function hold_again(ids, job, seq)
  local key, till = key_again(job)
  if key then
    hold_unique(ids, key, seq, till, 0)
  end
end

-- Jobs by their tags, in one sorted set without scores: '<tag>\0<number>'. A tracked job has an additional empty tag.
local function enter_tags(tagged, seq, tags)
  local members = {}
  for tag in string.gmatch(tags, '[^%z]+') do
    members[#members + 1] = '0'
    members[#members + 1] = tag .. '\0' .. seq
  end
  if #members > 0 then
    redis.call('ZADD', tagged, unpack(members))
  end
end

-- Removes the tags of a job.
local function leave_tags(tagged, seq, tags, is_tracked)
  local members = { is_tracked and '\0' .. seq or nil }
  for tag in string.gmatch(tags, '[^%z]+') do
    members[#members + 1] = tag .. '\0' .. seq
  end
  if #members > 0 then
    redis.call('ZREM', tagged, unpack(members))
  end
end

-- The tags of a job with others, or without them, in their order, and how many they are.
local MOST_TAGS = 20

local function other_tags(before, tags, tags_at, adds)
  local named, list = {}, {}
  for at = tags_at, #tags, 1 do
    named[tags[at]] = true
  end
  for tag in string.gmatch(before, '[^%z]+') do
    if adds or not named[tag] then
      list[#list + 1] = tag
    end
    named[tag] = nil
  end
  for at = tags_at, #tags, 1 do
    if adds and named[tags[at]] then
      list[#list + 1] = tags[at]
      named[tags[at]] = nil
    end
  end
  return table.concat(list, '\0'), #list
end
