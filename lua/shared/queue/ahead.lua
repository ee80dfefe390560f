-- How much greater the numbers are under which a queue gets what is in the outbox. 0, but where the numbers of this queue have gone
-- back: then what is put out would have numbers that the other one has seen. See decision 78.

local AHEAD = 'ahead '

local function ahead_of(meta, target)
  return tonumber(redis.call('HGET', meta, AHEAD .. target) or 0)
end
