--[[
Removes messages of a live claim: they are done. Without ids all of the claim.
A message that the claim does not hold stays, and is named with the reason: absent (not in the feed any
more), unclaimed, held (by another claim).

@returns acked  count:integer refused:[id:integer reason:text]
@returns lost
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
local parked = KEYS[10] -- hash: id -> delayed message, later its position
local subscribers = KEYS[11] -- sorted set: subscriber -> position
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = ARGV[2] -- text: number of the call in that slot
local token = ARGV[3] -- text: token of the claim
local ids, ids_at = ARGV, 4 -- repeated (id:integer): messages that are done; none: all of the claim

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

local done, others, refused, told = {}, {}, {}, ''
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
    found.holder = holder
    others[#others + 1] = found
  end
end
if #others > 0 then
  refused, told = refuse(feed, keys, others, now_ms)
end

if #done > 0 then
  local is_over = redis.call('ZCOUNT', claimed, token, token) == #done
  remove_entries(feed, keys, done)
  if is_over then
    redis.call('HDEL', work, lease_field(token))
    redis.call('ZREM', leases, token)
  end
  if feed.look or feed.moved ~= 0 then
    compact(feed, keys, now_ms, #done)
  end
  if may_rest(feed) then
    rest_when_empty(feed, keys, now_ms)
  end
  remember_answer(meta, caller, call, now_ms, #done .. ' ' .. told)
  save_feed(meta, feed)
end
return { 'acked', #done, refused }
