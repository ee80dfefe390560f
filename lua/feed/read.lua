--[[
Reads the messages after a cursor, oldest first, and reports to a reader what it has missed. Messages that have expired,
and those that the arguments hide, are skipped, and `next` moves past them. `gap`: retention removed messages after the
cursor before this read. `reset`: the cursor is of an earlier life of the feed, or the server lost its tail; the page
begins at the oldest message that this reader cannot have seen. `due`: delayed messages wait for `settle`. `recheck_ms`:
when the next delayed message becomes visible; 0: none is delayed. `held`: which of the messages a live claim holds. A
page ends once its messages reach `most_bytes`; then `more` is set.

@returns page  epoch:integer next:text more:flag gap:flag reset:flag due:flag recheck_ms:integer now_ms:integer messages:[position:integer id:integer expires_at_ms:integer claims:integer body:bytes] held:[position:integer token:integer]
@cost    O(log n + messages looked at), at most limit + 1000 of them, and 4 MiB of bodies
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local partitions = tonumber(ARGV[2]) -- integer: number of partitions of the feed; 0: not partitioned
local after = ARGV[3] -- text: cursor; empty: from the oldest message; 'end': only new messages
local limit = tonumber(ARGV[4]) -- integer: messages to return at most
local except_origin = ARGV[5] -- text: hides messages of this origin; empty: hides none
local include_claimed = ARGV[6] == '1' -- flag: whether to show messages under a live claim
local include_delayed = ARGV[7] == '1' -- flag: whether to show delayed ones after the last visible one
local most_bytes = tonumber(ARGV[8] or 4194304) -- integer: bytes of bodies after which a page ends; 4 MiB at most

local feed = try(open_feed(keys.meta, '', codec, partitions))
local start = where_to_start(feed, after)
if not start then
  return redis.error_reply('INVALID after: not a cursor')
end
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
local page = {
  limit = limit,
  left = math.min(CALL_BYTES, most_bytes),
  except_origin = except_origin,
  hides_claimed = not include_claimed,
  messages = {},
  claims = {},
}
local position, shown, more, left = read_log(keys, feed, page, start.position)
local next_cursor = format_cursor(feed.epoch, position)
if include_delayed and not more then
  local suffix
  page.limit, page.left = limit - shown, left
  suffix, more = read_delayed(keys, feed, start, page)
  next_cursor = next_cursor .. suffix
elseif include_delayed then
  next_cursor = next_cursor .. start.suffix
end

local due = has_come(feed.visible_at_us, feed.now_us)
local recheck_ms = 0
if feed.visible_at_us > 0 and not due then
  recheck_ms = math.ceil((feed.visible_at_us - feed.now_us) / 1000)
end
return {
  'page',
  feed.epoch,
  next_cursor,
  more and 1 or 0,
  start.gap and 1 or 0,
  start.reset and 1 or 0,
  due and 1 or 0,
  recheck_ms,
  feed.now_ms,
  page.messages,
  page.claims,
}
