--[[
Deletes the feed, its subscribers and its dead letters. Redis frees the memory in the background.

@returns cleared  existed:flag
@cost    O(1)
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local claimed = KEYS[3] -- sorted set: position -> token of its claim
local leases = KEYS[4] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[5] -- sorted set: positions that are free again
local work = KEYS[6] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[7] -- sorted set: position -> expires_at_ms, where not in the lane
local delayed = KEYS[8] -- sorted set: id -> visible_at_us
local parked = KEYS[9] -- hash: id -> delayed message, later its position
local calls = KEYS[10] -- hash: a process and slot -> its last call and answer
local once = KEYS[11] -- hash: idempotency key -> id
local subscribers = KEYS[12] -- sorted set: subscriber -> position
local guards = KEYS[13] -- sorted set: protected subscriber -> position
local dead_meta = KEYS[14] -- hash: the same of the dead letters
local dead_log = KEYS[15] -- stream: the same of the dead letters
local dead_claimed = KEYS[16] -- sorted set: the same of the dead letters
local dead_leases = KEYS[17] -- sorted set: the same of the dead letters
local dead_returned = KEYS[18] -- sorted set: the same of the dead letters
local dead_work = KEYS[19] -- hash: the same of the dead letters
local dead_expiry = KEYS[20] -- sorted set: the same of the dead letters
local dead_delayed = KEYS[21] -- sorted set: the same of the dead letters
local dead_parked = KEYS[22] -- hash: the same of the dead letters
local dead_calls = KEYS[23] -- hash: the same of the dead letters
local dead_once = KEYS[24] -- hash: the same of the dead letters
local dead_subscribers = KEYS[25] -- sorted set: the same of the dead letters
local dead_guards = KEYS[26] -- sorted set: the same of the dead letters
local channel = ARGV[1] -- text: where those who wait listen; empty: nobody waits
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

-- @include shared/wake

local keys = {
  meta,
  log,
  claimed,
  leases,
  returned,
  work,
  expiry,
  delayed,
  parked,
  calls,
  once,
  subscribers,
  guards,
  dead_meta,
  dead_log,
  dead_claimed,
  dead_leases,
  dead_returned,
  dead_work,
  dead_expiry,
  dead_delayed,
  dead_parked,
  dead_calls,
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
