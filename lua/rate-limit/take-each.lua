--[[
Takes from several subjects, each by itself, for which one limit of the algorithm gcra is all: same counts,
same bound, same tokens as `take`. Of a subject `count` takes of one cost are judged one after the other:
the first `granted` of them have the tokens from `token` on, the others are denied and consume nothing.
`free`, `reset_us` and `wait_us` (until one more take of the cost is allowed; 0: now, or none was denied)
hold after all of them. A subject that is refused is left alone, told in `refused` (`at`: its place, counted
from 0; null: none is), and stops no other one. A repeated call counts once; takes that it denied may be granted then only
where it had granted none. It is written in one piece, because on this path a function costs as much as a
command.

@returns judged  now_us:integer takes:[granted:integer token:integer free:integer reset_us:integer wait_us:integer] refused:[at:integer error:text]?
@cost    O(subjects)
]]
local state, state_at = KEYS, 1 -- repeated hash: what counts for the subject; none is named twice
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local name = ARGV[3] -- text: the limit
local limit = tonumber(ARGV[4]) -- integer: units that flow back in a window
local window_ms = tonumber(ARGV[5]) -- integer: the window
local burst = tonumber(ARGV[6]) -- integer: units that may be taken at once
local takes, takes_at = ARGV, 7 -- repeated (count:integer cost:integer): of each subject: how many takes, and the units of each

-- @include shared/clock
-- @include shared/rate-limit/calls

local field = 'gcra:' .. name
local now_us = clock_us()
-- What a unit costs and how far ahead of now the theoretical arrival time may lie, each as whole
-- microseconds and a rest in `1 / limit` of one: see shared/rate-limit/gcra.
local window_us = window_ms * 1000
local unit_rest = window_us % limit
local unit = (window_us - unit_rest) / limit
local span_rest = burst * unit_rest % limit
local span = burst * unit + (burst * unit_rest - span_rest) / limit

-- Gives what is told of a subject, or nil and why it is refused.
local function take(subject, count, cost)
  local stored = redis.pcall('HMGET', subject, 'layout', field, caller)
  local layout, counts, record = stored[1], stored[2], stored[3]
  if layout and layout ~= '1' then
    return nil, 'LAYOUT ' .. layout
  elseif cost > burst then
    return nil, 'INVALID cost: no wait is long enough for so much'
  end
  local remembered, token
  if record then
    remembered, token = struct.unpack('>dd', record)
    if remembered > call then
      return nil, 'INVALID call: a later one has taken its slot'
    end
    remembered = remembered == call and (#record > 16 and struct.unpack('>d', record, 17) or 1)
  elseif stored.err then
    return nil, stored.err
  end

  -- How far ahead the theoretical arrival time lies.
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

  -- Tried with all takes; where those are too many, downwards from one more than there is room for.
  local granted, wait_us = remembered and 1 or count, 0
  local next_ahead, next_rest
  repeat
    if granted * cost > burst then
      granted = (burst - burst % cost) / cost + 1
    end
    next_rest = rest + granted * cost * unit_rest
    next_ahead = ahead + granted * cost * unit + (next_rest - next_rest % limit) / limit
    next_rest = next_rest % limit
    local over_us = next_ahead - span + (next_rest > span_rest and 1 or 0)
    if over_us > 0 then
      local room = (span - ahead) * limit + span_rest - rest
      -- Exact while the room times the limit is; beyond that a unit more or less.
      local units = (room - room % window_us) / window_us + 1
      wait_us = over_us
      granted = math.min(granted - 1, (units - units % cost) / cost + 1)
    end
  until over_us <= 0

  if remembered then
    granted, wait_us = remembered, count > remembered and wait_us or 0
  elseif granted > 0 then
    ahead, rest = next_ahead, next_rest
    token = last < now_us and now_us or last + 1
  end
  local reset_us = rest > 0 and ahead + 1 or ahead
  local room = (span - ahead) * limit + span_rest - rest
  local free = (room - room % window_us) / window_us
  if remembered or granted == 0 then
    return granted, remembered and token or 0, free, reset_us, wait_us
  end

  local needed_ms = (now_us + reset_us) / 1000 + 10000
  local prolong = needed_ms > kept_until_ms
  if prolong then
    kept_until_ms = needed_ms - needed_ms % 1 + 10000
  end
  counts = struct.pack('>dddd', kept_until_ms, token + granted - 1, now_us + ahead, rest)
  if caller == '' then
    redis.call('HSET', subject, 'layout', '1', field, counts)
  else
    local own = granted == 1 and struct.pack('>dd', call, token) or struct.pack('>ddd', call, token, granted)
    redis.call('HSET', subject, 'layout', '1', field, counts, caller, own)
    -- Where a record comes, old ones go, so that they never add up.
    if layout and not record then
      forget_old_calls(subject, now_us)
    end
  end
  if prolong then
    local life_ms = (reset_us - reset_us % 1000) / 1000 + 20001
    if redis.call('PTTL', subject) < life_ms then
      redis.call('PEXPIRE', subject, string.format('%.0f', life_ms))
    end
  end
  return granted, token, free, reset_us, wait_us
end

-- Room for one subject, so that the list need not grow for it.
local told, refused = { 0, 0, 0, 0, 0 }, false
for at = takes_at, #takes, 2 do
  local place = (at - takes_at) / 2
  local granted, token, free, reset_us, wait_us =
    take(state[state_at + place], tonumber(takes[at]), tonumber(takes[at + 1]))
  if not granted then
    refused = refused or {}
    refused[#refused + 1] = place
    refused[#refused + 1] = token
    granted, token, free, reset_us, wait_us = 0, 0, 0, 0, 0
  end
  local to = place * 5
  told[to + 1], told[to + 2], told[to + 3], told[to + 4], told[to + 5] =
    granted, token, free, reset_us, wait_us
end
return { 'judged', now_us, told, refused }
