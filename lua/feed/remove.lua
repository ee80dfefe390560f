--[[
Removes messages by id, delayed ones too. Ids that are not in the feed are passed over; unless
`even_claimed`, a message under a live claim stays and is named.

@returns removed  count:integer held:[id:integer]
@cost    O(messages x log n), and as much for twice as many that are written anew
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
local subscribers = KEYS[12] -- sorted set: subscriber -> position
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = ARGV[2] -- text: number of the call in that slot
local even_claimed = ARGV[3] == '1' -- flag: whether messages under a live claim go too
local ids, ids_at = ARGV, 4 -- repeated (id:integer): messages to remove

local keys = {
  meta = meta,
  log = log,
  early = early,
  bodies = bodies,
  claimed = claimed,
  leases = leases,
  returned = returned,
  work = work,
  expiry = expiry,
  parked = parked,
  subscribers = subscribers,
}

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
local has_large = false
for _, found in ipairs(look_up(parked, ids, ids_at)) do
  if found.parked then
    parked_ids[#parked_ids + 1] = found.id
    has_large = has_large or is_large(parse_parked(tonumber(found.id), found.parked).bytes)
  else
    local holder = not even_claimed and redis.call('ZSCORE', claimed, found.place)
    local entry = entry_at(feed, keys, found.place)
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
  try_whole_removal(keys)
  if #parked_ids > 0 then
    unpark(delayed, parked, bodies, parked_ids, has_large)
    feed.visible_at_us = tonumber(redis.call('ZRANGE', delayed, '0', '0', 'WITHSCORES')[2] or 0)
  end
  remove_entries(feed, keys, going)
  if feed.look or feed.moved ~= 0 then
    compact(feed, keys, now_ms, #going)
  end
  if may_rest(feed) then
    rest_when_empty(feed, keys, now_ms)
  end
  remember_answer(meta, caller, call, now_ms, count .. table.concat(told, ' '))
  save_feed(meta, feed)
end
return { 'removed', count, held }
