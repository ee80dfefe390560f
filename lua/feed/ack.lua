--[[
Removes messages of a live claim: they are done. Without ids all of the claim.
A message that the claim does not hold stays, and is named with the reason: absent (not in the feed any
more), unclaimed, held (by another claim).

@returns acked  count:integer refused:[id:integer reason:text]
@returns lost
@cost    O(messages x log n)
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local claimed = KEYS[3] -- sorted set: position -> token of its claim
local leases = KEYS[4] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[5] -- sorted set: positions that are free again
local work = KEYS[6] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[7] -- sorted set: position -> expires_at_ms, where not in the lane
local parked = KEYS[8] -- hash: id -> delayed message, later its position
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = ARGV[2] -- text: number of the call in that slot
local token = ARGV[3] -- text: token of the claim
local ids, ids_at = ARGV, 4 -- repeated (id:integer): messages that are done; none: all of the claim

-- @include shared/exact
-- @include shared/clock
-- @include shared/calls
-- @include shared/feed/meta
-- @include shared/feed/save
-- @include shared/feed/entry
-- @include shared/feed/work
-- @include shared/feed/remove
-- @include shared/feed/leases
-- @include shared/feed/places

local feed = open_feed(meta, '', caller)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
local remembered, superseded = recall(feed.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
if remembered then
  local refused = {}
  for id, reason in string.gmatch(remembered, '(%d+):(%a+)') do
    refused[#refused + 1] = tonumber(id)
    refused[#refused + 1] = reason
  end
  return { 'acked', tonumber(string.match(remembered, '^%d+')), refused }
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(leases, token, now_ms) then
  return { 'lost' }
end

local function why_not(found)
  local holder = found.place and redis.call('ZSCORE', claimed, found.place)
  if holder and is_live(leases, holder, now_ms) then
    return 'held'
  end
  local present = found.parked or (found.place and entry_at(log, found.place))
  return present and 'unclaimed' or 'absent'
end

local done, refused, told = {}, {}, {}
if #ids < ids_at then
  done = work_of(claimed, work, token)
end
for _, found in ipairs(look_up(parked, ids, ids_at)) do
  local holder = found.place and redis.call('ZSCORE', claimed, found.place)
  if holder == token then
    local entry = parse_work(redis.call('HGET', work, found.place))
    entry.place = found.place
    done[#done + 1] = entry
  else
    local reason = why_not(found)
    refused[#refused + 1] = tonumber(found.id)
    refused[#refused + 1] = reason
    told[#told + 1] = found.id .. ':' .. reason
  end
end

if #done > 0 then
  remove_entries(feed, log, claimed, returned, expiry, work, parked, done)
  if redis.call('ZCOUNT', claimed, token, token) == 0 then
    redis.call('ZREM', leases, token)
    redis.call('HDEL', work, lease_field(token))
  end
  remember_answer(meta, caller, call, now_ms, #done .. ' ' .. table.concat(told, ' '))
  save_feed(meta, feed)
end
return { 'acked', #done, refused }
