--[[
Increments counters that are here, each by itself and in the order in which they are given. What it answers of each: its
value; in `refused` the places, from 0, of those that were not incremented: `absent` ones, whose value has to be loaded
first, those that would leave 64 bits (`overflow`), and those of one more counter than may wait for SQL (`behind`); in `known` those whose idempotency key was known, which count no
second time. A repeated call increments nothing, and answers the values of its own time.

@returns counted  now_ms:integer epoch:integer values:[value:text?] refused:[at:integer why:text] known:[at:integer]
@cost    O(counters)
]]
local meta = KEYS[1] -- hash: what is known of the partition
local values = KEYS[2] -- hash: id -> value
local pending = KEYS[3] -- hash: id -> what is counted, and neither set aside nor sealed
local rest = KEYS[4] -- hash: id -> what was set aside when a seal began, and what has come to it since
local clean = KEYS[5] -- sorted set: id of a counter without pending or sealed increments -> until when it stays
local once = KEYS[6] -- hash: id and idempotency key -> until when it is remembered
local caller = ARGV[1] -- text: process and slot of the call id
local call = ARGV[2] -- text: number of the call id
local remember_ms = tonumber(ARGV[3]) -- integer: how long idempotency keys are remembered
local most_dirty = tonumber(ARGV[4]) -- integer: counters with increments that are not sealed; 0: any number
local counters, counters_at = ARGV, 5 -- repeated (id:text delta:text key:text): without an idempotency key ''

local partition = open_partition(meta, caller)
if partition.layout ~= COUNTERS_LAYOUT then
  return redis.error_reply('LAYOUT ' .. partition.layout)
end
local count = (#counters - counters_at + 1) / 3
if count > 1000 then
  return redis.error_reply('INVALID counters: must be at most 1000 a call')
end
local now_ms = math.floor(clock_us() / 1000)
local ids, seen, is_plain = {}, {}, partition.rest_ms == 0
for at = counters_at, #counters, 3 do
  local id = counters[at]
  is_plain = is_plain and not seen[id] and counters[at + 2] == ''
  seen[id] = true
  ids[#ids + 1] = id
end
local now = redis.call('HMGET', values, unpack(ids))

local remembered, superseded = recall(partition.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
if remembered then
  local refused, known = read_outcomes(remembered)
  return { 'counted', now_ms, partition.epoch, now, refused, known }
end

-- A server without memory refuses the first, and a user without the right to it any of them, before anything has changed.
redis.call('HSET', meta, 'layout', partition.layout)
redis.call('ZREM', clean, '')
if partition.pending_ms == 0 then
  redis.call('PERSIST', pending)
end
local shown, refused, added
if is_plain and are_few(pending, rest, count, most_dirty) then
  shown, refused, added = add_plain(values, pending, clean, ids, now, counters, counters_at)
end
local known, keyed = {}, 0
if shown then
  now = shown
else
  refused, added = {}, false
  for at = counters_at, #counters, 3 do
    local place = (at - counters_at) / 3
    local id, delta, key = counters[at], counters[at + 1], counters[at + 2]
    if not now[place + 1] then
      refused[#refused + 1] = place
      refused[#refused + 1] = 'absent'
    elseif key ~= '' and id_of_key(once, id .. '\0' .. key, now_ms) then
      known[#known + 1] = place
      now[place + 1] = redis.call('HGET', values, id)
    elseif is_one_too_many(pending, rest, id, most_dirty) then
      refused[#refused + 1] = place
      refused[#refused + 1] = 'behind'
      now[place + 1] = redis.call('HGET', values, id)
    else
      local value, is_pending = add(values, pending, rest, clean, id, delta, partition.rest_ms > 0)
      if value then
        added = added or is_pending
        now[place + 1] = value
      else
        now[place + 1] = redis.call('HGET', values, id)
        refused[#refused + 1] = place
        refused[#refused + 1] = 'overflow'
      end
      if value and key ~= '' then
        keyed = keyed + 1
        remember_key(once, id .. '\0' .. key, 0, now_ms + remember_ms)
      end
    end
  end
end
if keyed > 0 then
  forget_old_keys(once, keyed, now_ms)
  keep_keys(once, remember_ms)
end
if added and partition.pending_ms == 0 then
  let_stay(values, clean)
  partition.pending_ms = now_ms
  save_partition(meta, partition)
end
remember_answer(meta, caller, call, now_ms, outcomes_text(refused, known))
return { 'counted', now_ms, partition.epoch, now, refused, known }
