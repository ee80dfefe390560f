--[[
Removes messages by id, delayed ones too. Ids that are not in the feed are passed over; unless
`even_claimed`, a message under a live claim stays and is named.

@returns removed  count:integer held:[id:integer]
@cost    O(messages x log n)
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
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = ARGV[2] -- text: number of the call in that slot
local even_claimed = ARGV[3] == '1' -- flag: whether messages under a live claim go too
local ids, ids_at = ARGV, 4 -- repeated (id:integer): messages to remove

-- @include shared/exact
-- @include shared/clock
-- @include shared/calls
-- @include shared/feed/meta
-- @include shared/feed/save
-- @include shared/feed/entry
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
  local held = {}
  for id in string.gmatch(remembered, ' (%d+)') do
    held[#held + 1] = tonumber(id)
  end
  return { 'removed', tonumber(string.match(remembered, '^%d+')), held }
end
local now_ms = math.floor(clock_us() / 1000)
local going, parked_ids, held, told = {}, {}, {}, { '' }
for _, found in ipairs(look_up(parked, ids, ids_at)) do
  if found.parked then
    parked_ids[#parked_ids + 1] = found.id
  else
    local holder = not even_claimed and redis.call('ZSCORE', claimed, found.place)
    local entry = entry_at(log, found.place)
    if entry and holder and is_live(leases, holder, now_ms) then
      held[#held + 1] = tonumber(found.id)
      told[#told + 1] = found.id
    elseif entry then
      going[#going + 1] = entry
    end
  end
end
local count = #going + #parked_ids
if count > 0 then
  if #parked_ids > 0 then
    redis.call('ZREM', delayed, unpack(parked_ids))
    redis.call('HDEL', parked, unpack(parked_ids))
    feed.visible_at_us = tonumber(redis.call('ZRANGE', delayed, '0', '0', 'WITHSCORES')[2] or 0)
  end
  remove_entries(feed, log, claimed, returned, expiry, work, parked, going)
  remember_answer(meta, caller, call, now_ms, count .. table.concat(told, ' '))
  save_feed(meta, feed)
end
return { 'removed', count, held }
