-- ARGV: token; then the positions that are done, none: all of the claim
local token = tonumber(ARGV[1])
local ends_at_ms = redis.call('ZSCORE', leases, token)
if not ends_at_ms or tonumber(ends_at_ms) <= clock_us() / 1000 then
  return 0
end
local held = {}
for _, position in ipairs(redis.call('ZRANGEBYSCORE', claimed, token, token)) do
  held[position] = true
end
local done = {}
for at = 2, #ARGV do
  done[#done + 1] = held[ARGV[at]] and ARGV[at] or nil
end
if #ARGV == 1 then
  for position in pairs(held) do
    done[#done + 1] = position
  end
end
if #done > 0 then
  remove_messages(done)
  redis.call('ZREM', claimed, unpack(done))
  redis.call('HDEL', work, unpack(done))
end
if redis.call('ZCOUNT', claimed, token, token) == 0 then
  redis.call('ZREM', leases, token)
end
return #done
