--[[
Appends uniform messages, the fast path: one TTL and one origin for all, visible at once, without idempotency keys or
retention. Positions and ids are as in `append`. Declines, and has done nothing, when the feed has not begun or has
other work to do first, or a message has more than 16 KiB; then use `append`.

@returns appended  epoch:integer first:integer
@returns declined
@cost    O(messages)
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local partitions = tonumber(ARGV[2]) -- integer: number of partitions of the feed; 0: not partitioned
local call_id = ARGV[3] -- CALL_ID: of this call; see shared/calls
local channel = ARGV[5] -- text: channel of the waiters; empty: there are none
local sharded = ARGV[6] == '1' -- flag: whether that is a sharded channel
local ttl_ms = tonumber(ARGV[7]) -- integer: how long the messages live; 0: they stay
local origin = ARGV[8] -- text: the appending client, without spaces or '#'; may be empty
local bodies, bodies_at = ARGV, 9 -- repeated (body:bytes): the messages

local feed = try(open_feed(keys.meta, call_id.caller, codec))
local remembered = try(recall(feed.record, call_id))
if remembered then
  return { 'appended', feed.epoch, tonumber(string.match(remembered, '^%d+')) }
end

feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
local first = math.max(feed.last + 1, feed.now_us)
local last = first + #bodies - bodies_at
if feed.partitions ~= partitions or not is_quick(feed, last, ttl_ms) then
  return { 'declined' }
end
for at = bodies_at, #bodies, 1 do
  if #bodies[at] > INLINE_BYTES then
    return { 'declined' }
  end
end

local ttl, bytes = exact(ttl_ms), feed.bytes
local form, base = exact_range(first, last)
for at = bodies_at, #bodies, 1 do
  local body = bodies[at]
  add_entry(keys.log, string.format(form, first - base + at - bodies_at), ttl, origin, body)
  bytes = bytes + #body
end
note_quick(feed, first, last, ttl_ms, keys.meta)
feed.last, feed.bytes = last, bytes
save_feed_and_call(keys.meta, feed, call_id, exact(first) .. ' 0')
wake(channel, sharded, 'appended')
return { 'appended', feed.epoch, first }
