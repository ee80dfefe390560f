--[[
Deletes the semaphore with all its permits, its line, and its stored limit. Waiters are notified, and join the line
again. Tokens keep rising, even if the clock has stepped back.

@returns cleared  existed:flag
@cost    O(permits and waiting), of which at most 1,000 get a notification
]]
local channel = ARGV[1] -- text: prefix of the channels of processes
local sharded = ARGV[2] == '1' -- flag: whether to use sharded channels

local how = { channel = channel, sharded = sharded, counted = false }
local waiting = redis.call('ZRANGE', keys.queue, '0', '999')
local stored = redis.pcall('GET', keys.state)
local newest = type(stored) == 'string' and string.match(stored, '^1 %d+ %d %d+ (%d+) ')
local existed = 0
local all = { keys.state, keys.queue, keys.permits, keys.ids }
for _, key in ipairs(all) do
  existed = math.max(existed, redis.call('UNLINK', key))
end
if newest then
  local token, kept_ms = token_to_leave(tonumber(newest), math.floor(clock_us() / 1000))
  if token then
    redis.call('SET', keys.state, '1 0 0 0 ' .. token .. ' 0 0 0', 'PX', kept_ms)
  end
end
for _, text in ipairs(waiting) do
  local ticket = parse_ticket(text)
  notify_process(ticket, 'come ' .. ticket.id, how)
end
return { 'cleared', existed }
