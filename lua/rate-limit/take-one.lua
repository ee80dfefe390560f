--[[
`take` for a subject with one limit, which is of the algorithm gcra: same counts, same bound, same answers, told
without lists. It is written in one piece, because on this path a function costs as much as a command.

@returns taken   token:integer now_us:integer free:integer reset_us:integer
@returns denied  wait_us:integer now_us:integer free:integer reset_us:integer
@cost    O(1)
]]
local state = KEYS[1] -- hash: what counts for the subject
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local cost = tonumber(ARGV[3]) -- integer: units to take
local name = ARGV[4] -- text: the limit
local limit = tonumber(ARGV[5]) -- integer: units that flow back in a window
local window_ms = tonumber(ARGV[6]) -- integer: the window
local burst = tonumber(ARGV[7]) -- integer: units that may be taken at once

-- @include shared/clock
-- @include shared/rate-limit/calls

if cost > burst then
  return redis.error_reply('INVALID cost: no wait is long enough for so much')
end
local field = 'gcra:' .. name
local stored = redis.call('HMGET', state, 'layout', field, caller)
local layout, counts, record = stored[1], stored[2], stored[3]
if layout and layout ~= '1' then
  return redis.error_reply('LAYOUT ' .. layout)
end
local now_us = clock_us()
local remembered = false
if record then
  local number, token = struct.unpack('>dd', record)
  if number > call then
    return redis.error_reply('INVALID call: a later one has taken its slot')
  end
  remembered = number == call and token
end

-- What a unit costs and how far ahead of now the theoretical arrival time may lie, each as whole
-- microseconds and a rest in `1 / limit` of one: see shared/rate-limit/gcra.
local window_us = window_ms * 1000
local unit_rest = window_us % limit
local unit = (window_us - unit_rest) / limit
local span_rest = burst * unit_rest % limit
local span = burst * unit + (burst * unit_rest - span_rest) / limit

-- How far ahead it lies; and where it would lie with this take.
local kept_until_ms, last, ahead, rest = 0, 0, 0, 0
if counts then
  local arrival, arrival_rest
  kept_until_ms, last, arrival, arrival_rest = struct.unpack('>dddd', counts)
  -- Counts from before the clock stepped back are forgotten.
  if arrival >= now_us and last <= now_us + 1000000 then
    ahead, rest = arrival - now_us, arrival_rest
    -- Counted for another limit of this name.
    if rest >= limit then
      ahead, rest = ahead + 1, 0
    end
    if ahead > span or (ahead == span and rest > span_rest) then
      ahead, rest = span, span_rest
    end
  end
end
local next_rest = rest + cost * unit_rest
local next_ahead = ahead + cost * unit + (next_rest - next_rest % limit) / limit
next_rest = next_rest % limit
local wait_us = next_ahead - span
if next_rest > span_rest then
  wait_us = wait_us + 1
end
local taken = wait_us <= 0 and not remembered
if taken then
  ahead, rest = next_ahead, next_rest
end

local reset_us = rest > 0 and ahead + 1 or ahead
-- Exact while the room times the limit is; beyond that a unit more or less.
local room = (span - ahead) * limit + span_rest - rest
local free = (room - room % window_us) / window_us
if remembered then
  return { 'taken', remembered, now_us, free, reset_us }
elseif not taken then
  return { 'denied', wait_us, now_us, free, reset_us }
end
local token = last < now_us and now_us or last + 1
local needed_ms = (now_us + reset_us) / 1000 + 10000
local prolong = needed_ms > kept_until_ms
if prolong then
  kept_until_ms = needed_ms - needed_ms % 1 + 10000
end
counts = struct.pack('>dddd', kept_until_ms, token, now_us + ahead, rest)
if caller == '' then
  redis.call('HSET', state, 'layout', '1', field, counts)
elseif layout then
  redis.call('HSET', state, field, counts, caller, struct.pack('>dd', call, token))
else
  redis.call('HSET', state, 'layout', '1', field, counts, caller, struct.pack('>dd', call, token))
end
if prolong then
  local life_ms = (reset_us - reset_us % 1000) / 1000 + 20001
  if redis.call('PTTL', state) < life_ms then
    redis.call('PEXPIRE', state, string.format('%.0f', life_ms))
  end
end
if call % 16 == 0 then
  forget_old_calls(state, call, now_us)
end
return { 'taken', token, now_us, free, reset_us }
