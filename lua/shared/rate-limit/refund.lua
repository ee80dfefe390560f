-- Refunds units that were taken at `at_us`, so that the count is never below the units that were taken and not
-- refunded.

-- A token is the time of its take, or ahead of it if takes are faster than the clock ticks.
local TOKEN_LEAD_US = 1000

-- Units that have refilled since the take are not refunded a second time.
local function refund_gcra(meter, units, at_us)
  local back, rest = gcra_cost(meter, units)
  back = back - math.max(0, meter.now_us - at_us)
  local ahead, ahead_rest = meter.ahead - back, meter.rest - rest
  if back < 0 then
    return
  end
  if ahead_rest < 0 then
    ahead, ahead_rest = ahead - 1, ahead_rest + meter.limit
  end
  if ahead < 0 then
    ahead, ahead_rest = 0, 0
  end
  gcra_set(meter, ahead, ahead_rest)
end

-- The oldest units are removed: the others count for longer, so the window never holds too many.
local function refund_sliding_window(meter, units, at_us)
  if at_us + meter.window_us <= meter.now_us + TOKEN_LEAD_US then
    return
  end
  local total, log, left = meter.total, meter.log, units
  while left > 0 and #log > 0 do
    local last_us, counted = pair_at(log, 1)
    local given = math.min(left, counted)
    log = without_first(log, 1)
    if given < counted then
      log = pack_pair(last_us, counted - given) .. log
    end
    total, left = total - given, left - given
  end
  sliding_window_set(meter, total, log)
end

local function refund_meters(meters, units, at_us)
  for _, meter in ipairs(meters) do
    if meter.algorithm == 'gcra' then
      refund_gcra(meter, units, at_us)
    elseif meter.algorithm == 'sliding-window' then
      refund_sliding_window(meter, units, at_us)
    end
  end
end

-- Refunded tokens: a take is refunded once. The newest are in a short list, oldest first, as doubles. Each older one
-- has a field of its own, with the time from which nothing of its take can be refunded. If the subject has too many
-- fields it gets none, and every take as old as such a one counts as refunded.
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

-- The field to write for a token that leaves the list. When the key would expire, all units taken by now have refilled.
local function note_older(state, token, now_us)
  if redis.call('HLEN', state) < MOST_FIELDS then
    return refunded_field(token), struct.pack('>d', now_us + redis.call('PTTL', state) * 1000)
  end
  local known = redis.call('HGET', state, OLDER)
  return OLDER, struct.pack('>d', math.max(token, known and token_at(known, 1) or 0))
end

-- The fields to write for a refunded token, each followed by its value.
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
