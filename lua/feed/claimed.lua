--[[
Returns a claim: the messages it holds and its remaining time.

@returns claimed  epoch:integer lease_ms:integer expires_at_ms:integer now_ms:integer messages:[position:integer id:integer expires_at_ms:integer claims:integer body:bytes]
@returns lost
@cost    O(messages of the claim x log n), and its bodies: 4 MiB, as of any claim
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local token = ARGV[2] -- text: token of the claim

local feed = try(open_feed(keys.meta, '', codec))
feed.now_ms = math.floor(clock_us() / 1000)
if not is_live(keys, feed, token) then
  return { 'lost' }
end
local lease_ms = tonumber(redis.call('HGET', keys.work, lease_field(token)))
local expires_at_ms = tonumber(redis.call('ZSCORE', keys.leases, token))
return {
  'claimed',
  feed.epoch,
  lease_ms,
  expires_at_ms,
  feed.now_ms,
  report_messages(claimed_entries(keys, feed, token), keys.bodies),
}
