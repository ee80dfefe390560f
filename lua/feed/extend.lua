--[[
Renews a claim, counted from now. A claim that has ended is never revived.

@returns extended  expires_at_ms:integer
@returns lost
@cost    O(messages of the claim x log n)
]]
local token = ARGV[1] -- text: token of the claim
local lease_ms = tonumber(ARGV[2]) -- integer: how long the claim lasts from now
local grace_ms = tonumber(ARGV[3]) -- integer: how long messages live at least after it

local feed = try(open_feed(keys.meta, ''))
feed.now_ms = math.floor(clock_us() / 1000)
if not is_live(keys, feed, token) then
  return { 'lost' }
end
local expires_at_ms = feed.now_ms + lease_ms
-- Commands that free memory come first, so that this works when the server is out of memory.
redis.call('HDEL', keys.work, '')
local records = { lease_field(token), lease_ms }
local prolonged = prolong_entries(keys, feed, work_of(keys, token), expires_at_ms + grace_ms)
for _, entry in ipairs(prolonged) do
  records[#records + 1] = entry.place
  records[#records + 1] = format_work(entry)
end
redis.call('HSET', keys.work, unpack(records))
local touched = { keys.leases, keys.work, keys.expiry }
for _, key in ipairs(touched) do
  keep_with_feed(feed, key)
end
if must_move(feed) then
  move_all(keys, feed)
end
save_feed(keys.meta, feed)
-- Last: an extension that a missing right refuses must not have shortened the lease.
redis.call('ZADD', keys.leases, expires_at_ms, token)
return { 'extended', expires_at_ms }
