-- The number of partitions of what is spread over several units. It is kept in the unit of the name alone, whose main key has a
-- layout that says so: whoever takes the name for one that is not spread is refused as by data of an unknown layout.
--   layout        'in <number> partitions'
--   partitions    the number
--   agreed_us     when it was agreed upon last, for a partition that was about to be used: whoever clears all partitions then
--                 forgets the number, unless it was agreed upon meanwhile

-- The number, 0 for what is not spread, nil where nothing has begun; and when it was agreed upon last.
local function known_number(meta)
  -- `state` tells in its first eight bytes when what is not spread began.
  local stored = redis.call('HMGET', meta, 'partitions', 'agreed_us', 'state')
  if stored[1] then
    return tonumber(stored[1]), stored[2]
  end
  local has_begun = stored[3] and struct.unpack('>d', stored[3]) > 0
  return has_begun and 0 or nil
end

-- What refuses a call for what is spread by its name alone, under which only the number of its partitions is kept.
local function refusal_of_spread(meta)
  local layout = redis.call('HGET', meta, 'layout')
  if layout and string.find(layout, '^in %d+ partitions$') then
    return redis.error_reply('LAYOUT ' .. layout)
  end
  return nil
end

local function agree_on(meta, partitions, now)
  local layout = 'in ' .. partitions .. ' partitions'
  redis.call('HSET', meta, 'layout', layout, 'partitions', partitions, 'agreed_us', now)
end

-- Proposals of partitions.
local PROPOSED_MS = '60000'

-- What proves the proposal, the one before where it was not taken up yet; of which nothing is left after a minute.
local function propose(meta, layout, now)
  local proof = redis.call('HGET', meta, 'proposed')
  if proof then
    if redis.call('PTTL', meta) > 0 then
      redis.call('PEXPIRE', meta, PROPOSED_MS)
    end
    return proof
  end
  local is_new = redis.call('EXISTS', meta) == 0
  redis.call('HSET', meta, 'layout', layout, 'proposed', now)
  if is_new then
    redis.call('PEXPIRE', meta, PROPOSED_MS)
  end
  return now
end

-- Of what is spread over several units each knows over how many: the field `partitions` of its main key, which is there from
-- the first time on that the partition is used. Before that it is proposed, then the number is agreed upon in the unit of the
-- name alone, and only then it is taken up, with what proves the proposal. So whoever clears all partitions that the number tells
-- clears this one, too.

local PARTITIONS = arguments({
  partitions = 'integer', -- over how many the unit is spread; 0: it is not
  proof = 'text', -- what propose answered, where the partition is not agreed upon yet; else empty
})

-- Takes the number up where this partition has none yet. False where the partition was not proposed so, or was cleared since.
local function take_up(meta, unit, spread)
  if unit.partitions == spread.partitions then
    return true
  end
  local proof = spread.proof
  if proof == '' or redis.call('HGET', meta, 'proposed') ~= proof then
    return false
  end
  redis.call('HSET', meta, 'partitions', spread.partitions)
  redis.call('HDEL', meta, 'proposed')
  redis.call('PERSIST', meta)
  return true
end
