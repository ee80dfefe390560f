--[[
Takes from several subjects, each on its own, whose only limit uses the algorithm gcra: same counts, same bound, same
tokens as `take`. For a subject, `count` takes of one cost are decided one after the other: the first `granted` of them
have the tokens from `token` on, the others are denied and consume nothing. `free`, `reset_us` and `wait_us` (until one
more take of the cost is allowed; 0: now, or none was denied) describe the state after all of them. A refused subject
does not change, is listed in `refused` (`at`: its place, counted from 0; null: none is), and does not affect the
others. A repeated call counts once; it may grant denied takes only if the first call had granted none.

@returns judged  now_us:integer takes:[granted:integer token:integer free:integer reset_us:integer wait_us:integer] refused:[at:integer error:text]?
@cost    O(subjects)
]]
local state, state_at = KEYS, 1 -- repeated hash: state of each subject, each once
local caller = ARGV[1] -- text: process and slot; empty: the script does not remember the call
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local name = ARGV[3] -- text: the limit
local limit = tonumber(ARGV[4]) -- integer: units that refill in a window
local window_ms = tonumber(ARGV[5]) -- integer: the window
local burst = tonumber(ARGV[6]) -- integer: most units to take at once
local takes, takes_at = ARGV, 7 -- repeated (count:integer cost:integer): of each subject: how many takes, and the units of each

local encode, decode = struct.pack, struct.unpack
local field = 'gcra:' .. name
local server_us, window_us = clock_us(), window_ms * 1000
local unit, unit_rest, span, span_rest = arrival_spans(window_us, limit, burst)
-- Room for one subject, so that the list need not grow for it.
local reported, refused, rate = { 0, 0, 0, 0, 0 }, false, nil

-- Inlined: a function with these upvalues would cost more than the rest of a take.
for at = takes_at, #takes, #TAKES do
  local place = (at - takes_at) / #TAKES
  local subject, count, cost =
    state[state_at + place], tonumber(takes[at + TAKES.count]), tonumber(takes[at + TAKES.cost])
  local stored = redis.pcall('HMGET', subject, 'layout', field, 'time', caller)
  local layout, counts, record = stored[1], stored[2], stored[4]
  local number, token = -1, 0
  if record then
    number, token = decode('>dd', record)
  end
  local why = layout and layout ~= '1' and 'LAYOUT ' .. layout
    or cost > burst and 'INVALID cost: no wait is long enough for so much'
    or stored.err
    or number > call and 'INVALID call: a later one has taken its slot'
  local granted, free, reset_us, wait_us = 0, 0, 0, 0
  if why then
    refused = refused or {}
    refused[#refused + 1] = place
    refused[#refused + 1] = why
    token = 0
  else
    local remembered = number == call and (#record > 16 and decode('>d', record, 17) or 1)
    local newest, taken_us, offset_us = read_time(stored[3])
    local kept_until_ms, last, arrival, arrival_rest = 0, 0, 0, 0
    if counts then
      kept_until_ms, last, arrival, arrival_rest = decode('>dddd', counts)
      -- An older release has counted, without the time of the subject.
      if last > newest then
        newest, taken_us = last, math.max(last, taken_us)
      end
    end
    local now_us = server_us + offset_us
    if taken_us > now_us + STEP_US then
      now_us, offset_us = taken_us, taken_us - server_us
      if not remembered then
        keep_time(subject, newest, taken_us, offset_us)
      end
    end
    local latest = (last < now_us and last or now_us) + span
    local ahead, rest = ahead_of_now(arrival, arrival_rest, latest, span_rest, now_us, limit)
    granted = remembered or count
    local units = granted * cost
    local next_rest = rest + units * unit_rest
    local next_ahead = ahead + units * unit + (next_rest - next_rest % limit) / limit
    next_rest = next_rest % limit
    if remembered and count > remembered or not remembered and (next_ahead >= span or units > burst) then
      rate = rate or { limit = limit, window_us = window_us, burst = burst }
      granted, wait_us, next_ahead, next_rest =
        grant_fewer(rate, ahead, rest, remembered and 1 or count, cost)
    end
    granted, token = remembered or granted, remembered and token or 0
    local is_taken = not remembered and granted > 0
    if is_taken then
      ahead, rest = next_ahead, next_rest
      token = newest < now_us and now_us or newest + 1
    end
    reset_us = rest > 0 and ahead + 1 or ahead
    local room = (span - ahead) * limit + span_rest - rest
    free = (room - room % window_us) / window_us
    if is_taken then
      local needed_ms = (now_us + reset_us) / 1000 + KEPT_EXTRA_MS / 2
      local is_short = needed_ms > kept_until_ms
      if is_short then
        kept_until_ms = needed_ms - needed_ms % 1 + KEPT_EXTRA_MS / 2
      end
      counts = encode('>dddd', kept_until_ms, token + granted - 1, now_us + ahead, rest)
      local time = pack_time(token + granted - 1, taken_us > now_us and taken_us or now_us, offset_us)
      local own = caller ~= ''
        and (granted == 1 and encode('>dd', call, token) or encode('>ddd', call, token, granted))
      if not own then
        redis.call('HSET', subject, 'layout', '1', field, counts, 'time', time)
      elseif not layout then
        redis.call('HSET', subject, 'layout', '1', field, counts, 'time', time, caller, own)
      else
        -- The layout is written only if it is missing: each field costs some more.
        redis.call('HSET', subject, field, counts, 'time', time, caller, own)
        -- When a new record is added, old ones are removed, so that they never accumulate.
        if not record then
          forget_old_fields(subject, now_us)
        end
      end
      if is_short then
        keep_for(subject, math.ceil((reset_us + offset_us) / 1000) + KEPT_EXTRA_MS)
      end
    end
  end
  local to = place * 5
  reported[to + 1], reported[to + 2], reported[to + 3], reported[to + 4], reported[to + 5] =
    granted, token, free, reset_us, wait_us
end
return { 'judged', server_us, reported, refused }
