--[[
Increments loaded counters, each on its own and in the given order. The answer has the value of each. `refused` lists
the places, from 0, of those that were not incremented: `absent` ones, whose value has to be loaded first; those that
would leave 64 bits (`overflow`); and those that would exceed the number of counters that may wait for SQL (`behind`).
`known` lists those whose idempotency key was known, which are not incremented again. A repeated call increments
nothing, and returns the values of the first call.

@returns counted  now_ms:integer epoch:integer values:[value:text?] refused:[at:integer why:text] known:[at:integer]
@cost    O(counters)
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local idempotency_ttl_ms = tonumber(ARGV[3]) -- integer: how long to remember idempotency keys
local most_dirty = tonumber(ARGV[4]) -- integer: maximum of counters with unsealed increments; 0: any number
local counters, counters_at = ARGV, 5 -- repeated COUNTERS: those to increment

local partition = try(open_partition(keys.meta, call_id.caller))
local count = (#counters - counters_at + 1) / #COUNTERS
if count > 1000 then
  return redis.error_reply('INVALID counters: must be at most 1000 a call')
end
local now_ms = math.floor(clock_us() / 1000)
local ids, seen, is_plain = {}, {}, partition.rest_ms == 0
for at = counters_at, #counters, #COUNTERS do
  local id = counters[at + COUNTERS.id]
  is_plain = is_plain and not seen[id] and counters[at + COUNTERS.key] == ''
  seen[id] = true
  ids[#ids + 1] = id
end
local now = redis.call('HMGET', keys.values, unpack(ids))

local remembered = try(recall(partition.record, call_id))
if remembered then
  local refused, known = read_outcomes(remembered)
  return { 'counted', now_ms, partition.epoch, now, refused, known }
end

-- A server out of memory rejects the first command, and a user who lacks a right any of them, before anything has
-- changed.
redis.call('HSET', keys.meta, 'layout', partition.layout)
redis.call('ZREM', keys.clean, '')
if partition.pending_ms == 0 then
  redis.call('PERSIST', keys.pending)
end
local shown, refused, added
if is_plain and are_few(keys, count, most_dirty) then
  shown, refused, added = add_plain(keys, ids, now, counters, counters_at)
end
local known, keyed = {}, 0
if shown then
  now = shown
else
  refused, added = {}, false
  for at = counters_at, #counters, #COUNTERS do
    local place = (at - counters_at) / #COUNTERS
    local id, delta, key =
      counters[at + COUNTERS.id], counters[at + COUNTERS.delta], counters[at + COUNTERS.key]
    if not now[place + 1] then
      refused[#refused + 1] = place
      refused[#refused + 1] = 'absent'
    elseif key ~= '' and id_of_key(keys.once, id .. '\0' .. key, now_ms) then
      known[#known + 1] = place
      now[place + 1] = redis.call('HGET', keys.values, id)
    elseif is_one_too_many(keys, id, most_dirty) then
      refused[#refused + 1] = place
      refused[#refused + 1] = 'behind'
      now[place + 1] = redis.call('HGET', keys.values, id)
    else
      local value, is_pending = add(keys, id, delta, partition.rest_ms > 0)
      if value then
        added = added or is_pending
        now[place + 1] = value
      else
        now[place + 1] = redis.call('HGET', keys.values, id)
        refused[#refused + 1] = place
        refused[#refused + 1] = 'overflow'
      end
      if value and key ~= '' then
        keyed = keyed + 1
        remember_key(keys.once, id .. '\0' .. key, 0, now_ms + idempotency_ttl_ms)
      end
    end
  end
end
if keyed > 0 then
  forget_old_keys(keys.once, keyed, now_ms)
  keep_keys(keys.once, idempotency_ttl_ms)
end
if added and partition.pending_ms == 0 then
  let_stay(keys)
  partition.pending_ms = now_ms
  save_partition(keys.meta, partition)
end
remember_answer(keys.meta, call_id, now_ms, outcomes_text(refused, known))
return { 'counted', now_ms, partition.epoch, now, refused, known }
