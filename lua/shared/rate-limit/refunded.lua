-- Tokens that were refunded: a take is given back once. The newest stand in a short list, oldest first, as doubles. Each that has left it has
-- a field of its own, with the time from which on nothing of its take can be given back. Where the subject has too many fields it has none, and
-- what is as old as such a one counts as refunded.
local MOST_REFUNDED = 64
local MOST_FIELDS = 10000
local OLDER = 'refunded-older'

local function refunded_field(token)
  return string.format('refunded:%.0f', token)
end

local function token_at(list, place)
  return struct.unpack('>d', list, (place - 1) * 8 + 1)
end

local function is_refunded(state, refunded, token)
  local places = #refunded / 8
  for place = 1, places do
    if token_at(refunded, place) == token then
      return true
    end
  end
  if places < MOST_REFUNDED or token > token_at(refunded, 1) then
    return false
  end
  local known = redis.call('HMGET', state, refunded_field(token), OLDER)
  return known[1] or known[2] and token <= token_at(known[2], 1)
end

-- What is to be written for a token that leaves the list. When the key would go, all that was taken by now has flowed back.
local function note_older(state, token, now_us)
  if redis.call('HLEN', state) < MOST_FIELDS then
    return refunded_field(token), struct.pack('>d', now_us + redis.call('PTTL', state) * 1000)
  end
  local known = redis.call('HGET', state, OLDER)
  return OLDER, struct.pack('>d', math.max(token, known and token_at(known, 1) or 0))
end

-- The fields to write for a token that is refunded, each with its value behind it.
local function note_refunded(state, refunded, token, now_us)
  local place = #refunded / 8
  while place > 0 and token_at(refunded, place) > token do
    place = place - 1
  end
  local list = string.sub(refunded, 1, place * 8)
    .. struct.pack('>d', token)
    .. string.sub(refunded, place * 8 + 1)
  if #list <= MOST_REFUNDED * 8 then
    return { 'refunded', list }
  end
  return { 'refunded', string.sub(list, 9), note_older(state, token_at(list, 1), now_us) }
end
