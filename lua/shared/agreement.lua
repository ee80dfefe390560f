-- The number of partitions of a structure that spans several units. It is stored in the unit of the name alone, whose
-- main key has a layout that says so: a caller that treats the name as an unpartitioned one is refused for an unknown
-- layout.
--   layout        'in <number> partitions'
--   partitions    the number
--   agreed_us     when it was last agreed, for a partition about to be used: after all partitions are cleared, the
--                 number is removed, unless it was agreed again meanwhile

-- The number, 0 for an unpartitioned structure, nil if nothing has begun; and when it was last agreed.
local function known_number(meta)
  -- The first eight bytes of `state` say when an unpartitioned structure began.
  local stored = redis.call('HMGET', meta, 'partitions', 'agreed_us', 'state')
  if stored[1] then
    return tonumber(stored[1]), stored[2]
  end
  local has_begun = stored[3] and struct.unpack('>d', stored[3]) > 0
  return has_begun and 0 or nil
end

-- Refuses a call for a partitioned structure by its name alone, under which only the number of its partitions is
-- stored.
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

-- Returns the proof of the proposal, or that of an earlier unused proposal. A proposal expires after a minute.
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

-- Each unit of a partitioned structure knows the number of partitions: the field `partitions` of its main key, which
-- exists from the first use of the partition. Before that the partition is proposed, then the number is agreed in the
-- unit of the name alone. Only then the partition accepts it, with the proof of the proposal. So a caller that clears
-- all partitions up to the agreed number also clears this one.

local PARTITIONS = arguments({
  partitions = 'integer', -- number of partitions of the unit; 0: not partitioned
  proof = 'text', -- the answer of propose, if the partition has no agreement yet; else empty
})

-- Stores the number in a partition that has none yet. False if the partition was not proposed so, or was cleared since.
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
