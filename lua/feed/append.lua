--[[
Appends messages; no other message falls between those of one call. Positions are microseconds of the server and always
greater than every earlier one, so they keep rising when the server has lost its tail. The ids are first, first + 1 and
so on in the order of the messages. Exceptions are listed in `duplicates` (places counted from 0): their idempotency key
is known, and they keep the id that they got then.

@returns appended  epoch:integer first:integer created:flag duplicates:[at:integer id:integer]
@returns unagreed
@cost    O(messages) and at most 100 + messages delayed ones that become visible, 200 + 3 x messages removals of expired
         or surplus ones, which read 4 MiB and as much as the call appends, and 2,000 more where these have fewer bytes
         than it appends; twice as many rewrites of messages
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local spread = ARGV[2] -- PARTITIONS: number of partitions of the feed
local call_id = ARGV[4] -- CALL_ID: of this call; see shared/calls
local channel = ARGV[6] -- text: channel of the waiters; empty: there are none
local sharded = ARGV[7] == '1' -- flag: whether that is a sharded channel
local retention_count = tonumber(ARGV[8]) -- integer: messages to keep; 0: all
local retention_ms = tonumber(ARGV[9]) -- integer: greatest age of messages to keep; 0: any
local retention_bytes = tonumber(ARGV[10]) -- integer: bytes of bodies to keep; 0: all
local idempotency_ttl_ms = tonumber(ARGV[11]) -- integer: how long to know idempotency keys
local messages, messages_at = ARGV, 12 -- repeated (body:bytes ttl_ms:integer delay_ms:integer key:text origin:text): ttl_ms 0: never expires; delay_ms 0: visible at once; '': no key, no origin (without spaces or '#')

local feed = try(open_feed(keys.meta, call_id.caller, codec, spread.partitions))
if not take_up(keys.meta, feed, spread) then
  return { 'unagreed' }
end
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
local count, duplicates = (#messages - messages_at + 1) / #MESSAGES, {}

local remembered = try(recall(feed.record, call_id))
if remembered then
  local first, created = string.match(remembered, '^(%d+) (%d)$')
  for at = messages_at, #messages, #MESSAGES do
    local place = (at - messages_at) / #MESSAGES
    local id = messages[at + MESSAGES.key] ~= ''
      and id_of_key(keys.once, messages[at + MESSAGES.key], feed.now_ms)
    if id and id ~= first + place then
      duplicates[#duplicates + 1] = place
      duplicates[#duplicates + 1] = id
    end
  end
  return { 'appended', feed.epoch, tonumber(first), tonumber(created), duplicates }
end

-- The commands that follow the first message, each once on nothing: if the call is refused, no message is stored.
redis.call('HGET', keys.once, '')
redis.call('ZADD', keys.delayed, 'XX', '0', '')
local created = begin_feed(keys.meta, feed) and 1 or 0
local is_kept = retention_count + retention_ms + retention_bytes > 0
local late = do_due(keys, feed, is_kept, count)
local log_may_begin, large_before = feed.bytes == 0, feed.large
local first = math.max(feed.last + 1, feed.now_us)
local form, base = exact_range(first, first + count)
local indexed, aside, keyed, id, bytes = {}, late > 0, 0, first - 1, 0
for at = messages_at, #messages, #MESSAGES do
  id = id + 1
  local body, ttl_ms, delay_ms =
    messages[at + MESSAGES.body], messages[at + MESSAGES.ttl_ms], messages[at + MESSAGES.delay_ms]
  local key, origin = messages[at + MESSAGES.key], messages[at + MESSAGES.origin]
  local known = key ~= '' and id_of_key(keys.once, key, feed.now_ms)
  if known then
    duplicates[#duplicates + 1] = id - first
    duplicates[#duplicates + 1] = known
  elseif delay_ms == '0' then
    add_message(keys, feed, string.format(form, id - base), ttl_ms, origin, body)
    bytes = bytes + #body
    if ttl_ms == '0' then
      feed.lives_until = -1
    else
      plan_expiry(feed, id, tonumber(ttl_ms), indexed)
    end
  else
    -- Ids are ahead of a clock that has stepped back.
    local visible_at_us = feed.now_us + id - first + delay_ms * 1000
    park_message(keys, feed, id, visible_at_us, string.format('%.0f %s', ttl_ms, origin), body)
    note_parked(feed, id, visible_at_us, tonumber(ttl_ms))
    aside = true
  end
  if key ~= '' and not known then
    remember_key(keys.once, key, id, feed.now_ms + idempotency_ttl_ms)
    keyed = keyed + 1
  end
end
feed.last, feed.bytes = id, feed.bytes + bytes
index_expiry(keys.expiry, indexed)
if is_kept then
  local keep = { count = retention_count, ms = retention_ms, bytes = retention_bytes }
  apply_retention(keys, feed, keep, 100 + count, bytes)
end
if feed.look or feed.moved ~= 0 then
  compact(keys, feed, count)
end
if keyed > 0 then
  forget_old_keys(keys.once, keyed, feed.now_ms)
  keep_keys(keys.once, idempotency_ttl_ms)
  if feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, feed.now_ms + idempotency_ttl_ms)
  end
end
if must_move(feed) then
  move_all(keys, feed)
end
if log_may_begin or aside or #indexed > 0 or feed.large > large_before then
  local aside_keys = { keys.log, keys.bodies, keys.expiry, keys.delayed, keys.parked }
  for _, key in ipairs(aside_keys) do
    keep_with_feed(feed, key)
  end
end
save_feed_and_call(keys.meta, feed, call_id, exact(first) .. ' ' .. created)
wake(channel, sharded, 'appended')
return { 'appended', feed.epoch, first, created, duplicates }
