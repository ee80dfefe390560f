--[[
Shows the values that SQL had at a version of it, and settles the notes taken before the read of SQL (`taken`; '':
none). A version may come in several pages; the last one is marked. Versions are shown one after the other, because each
has only its own changes. `gap`: `since`, the version before this one, is not the one shown. `stale`: this version or a
later one is shown already. With `seen`, the version of the partition, the shown values are removed first, so that none
of them is wrong. Callers use it when they know that a version between is lost, or that the database came back with an
old copy. `turn` comes from the notes, or from the previous page: if another caller has settled notes meanwhile, this
call settles none, and all of them stay shown until the next round. Counters that are not shown stay so. Counters
without a value are unknown to SQL and are shown no more. Safe to repeat.

@returns shown  turn:integer
@returns gap    version:integer
@returns stale  version:integer
@cost    O(counters); Redis frees the memory in the background
]]
local version = tonumber(ARGV[1]) -- integer: version of SQL
local since = tonumber(ARGV[2]) -- integer: the version before it
local turn = tonumber(ARGV[3]) -- integer: turn of the notes, or of the previous page
local seen = tonumber(ARGV[4]) -- integer: the version to leave although a version is missing; -1: none
local last = ARGV[5] == '1' -- flag: whether this is the last page
local retain_ms = tonumber(ARGV[6]) -- integer: how long a value without notes stays; 0: forever
local counters, counters_at = ARGV, 7 -- repeated (id:text value:text taken:text): at most 1,000

local state = try(open_board(keys.board))
if (#counters - counters_at + 1) / #COUNTERS > 1000 then
  return redis.error_reply('INVALID counters: must be at most 1000 a call')
end
if state.version == seen then
  redis.call('UNLINK', keys.shown, keys.idle, keys.ahead)
  state.version, state.newest = since, 0
elseif version <= state.version then
  return { 'stale', state.version }
elseif since ~= state.version then
  if redis.call('EXISTS', keys.shown) == 1 then
    return { 'gap', state.version }
  end
  state.version = since
end
local now_us = clock_us()
if state.turn == 0 then
  state.turn = now_us
end
local settles, settled = turn == state.turn, false
state.showing = not last and version or 0
-- Writes that a server out of memory may reject come first.
save_board(keys.board, state)
local due_ms = retain_ms > 0 and math.floor(now_us / 1000) + retain_ms or 0
for at = counters_at, #counters, #COUNTERS do
  local id, value, taken =
    counters[at + COUNTERS.id], counters[at + COUNTERS.value], counters[at + COUNTERS.taken]
  local own = state.newest > 0 and tonumber(redis.call('HGET', keys.ahead, id) or 0) or 0
  -- A value that was read later may include these notes twice, as a note and from SQL: the next round corrects it.
  if own < version then
    if settles and taken ~= '' then
      settled = true
      local left = redis.pcall('HINCRBY', keys.noted, id, opposite(taken))
      if left == 0 then
        redis.call('HDEL', keys.noted, id)
      end
    end
    if value == '' then
      redis.call('HDEL', keys.shown, id)
      redis.call('ZREM', keys.idle, id)
    elseif redis.call('HEXISTS', keys.shown, id) == 1 then
      put(keys, id, value, '0', due_ms)
    end
  end
end
if last then
  state.version = version
  if state.newest <= version then
    redis.call('UNLINK', keys.ahead)
    state.newest = 0
  end
end
if settled then
  state.turn = state.turn + 1
end
save_board(keys.board, state)
let_board_vanish(keys, retain_ms)
return { 'shown', state.turn }
