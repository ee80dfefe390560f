--[[
Listens to the events of the queue, for `listen_ms` from now on; 0: stop. A listener subscribes to the channel first,
and calls again in time. `number` is that of the newest message; the next messages count up from it. Listening is
possible before a queue begins, and does not begin it. Safe to repeat. At most a thousand listen at once.

@returns listening  now_ms:integer number:integer
@returns full
@cost    O(listeners)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local name = ARGV[2] -- text: the listener, '<process>.<number>'
local listen_ms = tonumber(ARGV[3]) -- integer: how long; 0: stop
local channel = ARGV[4] -- text: the channel of the events
local sharded = ARGV[5] == '1' -- flag: whether it is a sharded channel

local queue = try(open_queue(keys.meta, codec))
local now_ms = math.floor(clock_us() / 1000)
local count, last_ms = look_at_listeners(keys.listeners, name, now_ms)
if listen_ms == 0 and last_ms == 0 then
  redis.call('UNLINK', keys.listeners)
elseif listen_ms == 0 then
  redis.call('HDEL', keys.listeners, 'l' .. name)
elseif count >= MOST_LISTENERS then
  return { 'full' }
else
  last_ms = math.max(last_ms, now_ms + listen_ms)
  redis.call(
    'HSET',
    keys.listeners,
    'l' .. name,
    string.format('%.0f', now_ms + listen_ms),
    'channel',
    (sharded and '1:' or '0:') .. channel
  )
  redis.call('PEXPIRE', keys.listeners, LISTENERS_KEPT_MS)
end
queue.listened_ms = last_ms
save_queue(keys.meta, queue)
return { 'listening', now_ms, tonumber(redis.call('HGET', keys.listeners, 'number') or 0) }
