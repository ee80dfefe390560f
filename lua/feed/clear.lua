--[[
Deletes the feed, its subscribers and its dead letters. Redis frees the memory in the background.

@returns cleared  existed:flag
@cost    O(1)
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local early = KEYS[3] -- stream: the oldest visible messages, while the log is written anew
local bodies = KEYS[4] -- hash: id -> body, of those that are large
local claimed = KEYS[5] -- sorted set: position -> token of its claim
local leases = KEYS[6] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[7] -- sorted set: positions that are free again
local work = KEYS[8] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[9] -- sorted set: position -> expires_at_ms, where not in the lane
local delayed = KEYS[10] -- sorted set: id -> visible_at_us
local parked = KEYS[11] -- hash: id -> delayed message, later its position
local once = KEYS[12] -- hash: idempotency key -> id
local subscribers = KEYS[13] -- sorted set: subscriber -> position
local guards = KEYS[14] -- sorted set: protected subscriber -> position
local dead_meta = KEYS[15] -- hash: the same of the dead letters
local dead_log = KEYS[16] -- stream: the same of the dead letters
local dead_early = KEYS[17] -- stream: the same of the dead letters
local dead_bodies = KEYS[18] -- hash: the same of the dead letters
local dead_claimed = KEYS[19] -- sorted set: the same of the dead letters
local dead_leases = KEYS[20] -- sorted set: the same of the dead letters
local dead_returned = KEYS[21] -- sorted set: the same of the dead letters
local dead_work = KEYS[22] -- hash: the same of the dead letters
local dead_expiry = KEYS[23] -- sorted set: the same of the dead letters
local dead_delayed = KEYS[24] -- sorted set: the same of the dead letters
local dead_parked = KEYS[25] -- hash: the same of the dead letters
local dead_once = KEYS[26] -- hash: the same of the dead letters
local dead_subscribers = KEYS[27] -- sorted set: the same of the dead letters
local dead_guards = KEYS[28] -- sorted set: the same of the dead letters
local channel = ARGV[1] -- text: where those who wait listen; empty: nobody waits
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

-- Under its name alone a feed that is spread has only the number of its partitions: see shared/agreement.
local layout = redis.call('HGET', meta, 'layout')
if layout and string.find(layout, '^in %d+ partitions$') then
  return redis.error_reply('LAYOUT ' .. layout)
end
local keys = {
  meta,
  log,
  early,
  bodies,
  claimed,
  leases,
  returned,
  work,
  expiry,
  delayed,
  parked,
  once,
  subscribers,
  guards,
  dead_meta,
  dead_log,
  dead_early,
  dead_bodies,
  dead_claimed,
  dead_leases,
  dead_returned,
  dead_work,
  dead_expiry,
  dead_delayed,
  dead_parked,
  dead_once,
  dead_subscribers,
  dead_guards,
}
local existed = 0
for _, key in ipairs(keys) do
  existed = math.max(existed, redis.call('UNLINK', key))
end
wake(channel, sharded, 'cleared')
return { 'cleared', existed }
